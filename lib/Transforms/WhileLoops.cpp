//===- WhileLoops.cpp - Loops that carry each tensor in one place -----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WhileLoops.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

static bool isTensor(Value value) { return isa<RankedTensorType>(value.getType()); }

scf::WhileOp mlir::remat::carryTensorsInPlace(RewriterBase &rewriter, scf::WhileOp loop) {
  Location loc = loop.getLoc();
  Block &before = loop.getBefore().front(), &after = loop.getAfter().front();
  scf::ConditionOp condition = loop.getConditionOp();
  SmallVector<Value> passed(condition.getArgs()), carried(before.getArguments());
  auto isInPlace = [&](unsigned index) {
    return index < carried.size() && index < passed.size() && passed[index] == carried[index];
  };
  bool areAll = true;
  for (unsigned index = 0; index < std::max(passed.size(), carried.size()); ++index)
    if ((index < passed.size() && isTensor(passed[index])) ||
        (index < carried.size() && isTensor(carried[index])))
      areAll &= isInPlace(index);
  if (areAll)
    return loop;

  // First what is carried, then the new tensors, then what else is passed on.
  SmallVector<Value> inits(loop.getInits()), arguments(carried), others;
  SmallVector<unsigned> places(passed.size());
  for (auto [index, value] : llvm::enumerate(passed)) {
    places[index] = index;
    if (!isTensor(value) || isInPlace(index))
      continue;
    places[index] = arguments.size();
    auto type = cast<RankedTensorType>(value.getType());
    rewriter.setInsertionPoint(loop);
    inits.push_back(bufferization::AllocTensorOp::create(rewriter, loc, type, ValueRange()));
    Value place = before.addArgument(type, loc);
    rewriter.setInsertionPoint(condition);
    arguments.push_back(linalg::CopyOp::create(rewriter, loc, value, place).getResult(0));
  }
  unsigned numTensors = arguments.size();
  for (auto [index, value] : llvm::enumerate(passed)) {
    if (isTensor(value))
      continue;
    places[index] = numTensors + others.size();
    others.push_back(value);
  }
  llvm::append_range(arguments, others);
  rewriter.modifyOpInPlace(condition, [&] { condition.getArgsMutable().assign(arguments); });

  rewriter.setInsertionPoint(loop);
  auto newLoop = scf::WhileOp::create(rewriter, loc, TypeRange(ValueRange(arguments)), inits,
                                      nullptr, nullptr);
  newLoop->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  for (Value argument : arguments)
    after.addArgument(argument.getType(), loc);
  ValueRange newArguments = after.getArguments().drop_front(passed.size());
  for (auto [index, place] : llvm::enumerate(places))
    rewriter.replaceAllUsesWith(after.getArgument(index), newArguments[place]);
  scf::YieldOp yield = loop.getYieldOp();
  yield.getResultsMutable().append(newArguments.slice(carried.size(), numTensors - carried.size()));
  after.eraseArguments(0, passed.size());
  newLoop.getBefore().front().erase();
  newLoop.getAfter().front().erase();
  newLoop.getBefore().takeBody(loop.getBefore());
  newLoop.getAfter().takeBody(loop.getAfter());
  SmallVector<Value> results;
  for (unsigned place : places)
    results.push_back(newLoop.getResult(place));
  rewriter.replaceOp(loop, results);
  return newLoop;
}
