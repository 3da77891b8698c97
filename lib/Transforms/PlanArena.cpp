//===- PlanArena.cpp - All buffers of a function in one ---------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Transforms/Arena.h"

#include "Remat/Dialect/IR/RematDialect.h"
#include "Remat/Interfaces/TypeSize.h"
#include "mlir/Analysis/CallGraph.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/SCCIterator.h"

using namespace mlir;
using namespace mlir::remat;

/// Packing happens once per function: ten times the work of a plan in a search.
static constexpr int64_t kMaxVisits = 10 * planner::kPackingVisits;

namespace {
/// Where a memref is: so many bytes behind the beginning of a buffer.
struct Place {
  Value buffer;
  int64_t offset;
};

class ArenaBuilder {
public:
  ArenaBuilder(func::FuncOp function, SymbolTableCollection &symbols, const ArenaOptions &options)
      : function(function), symbols(symbols), options(options),
        layout(DataLayout::closest(function)), builder(function.getContext()) {}

  /// Gives callees their arenas, and buffers for their results.
  void prepareCalls();
  /// Moves results into buffers of the caller: of functions that are called, and of public
  /// ones if that is asked for.
  LogicalResult moveResultsToCaller();
  FailureOr<ArenaPlan> plan();
  LogicalResult apply(const ArenaPlan &plan);

private:
  std::optional<Place> findPlace(Value value);
  MemRefType withoutOffset(Type type) {
    return MemRefType::get(cast<MemRefType>(type).getShape(),
                           cast<MemRefType>(type).getElementType());
  }
  int64_t getBytes(Type type) { return getStorageBytes(type, layout).value_or(0); }
  Operation *getReturn() { return function.getBody().front().getTerminator(); }
  void replaceCall(func::CallOp call, func::FuncOp callee);
  LogicalResult removeResults(const ArenaPlan &plan);
  void setSizes(const ArenaPlan &plan);

  func::FuncOp function;
  SymbolTableCollection &symbols;
  const ArenaOptions &options;
  DataLayout layout;
  OpBuilder builder;
};
} // namespace

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

void ArenaBuilder::prepareCalls() {
  SmallVector<func::CallOp> calls;
  function.walk([&](func::CallOp call) { calls.push_back(call); });
  for (func::CallOp call : calls) {
    auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
    if (callee && callee->hasAttr(RematDialect::getArenaBytesAttrName()))
      replaceCall(call, callee);
  }
}

/// Passes buffers for the results and an arena to a callee that takes them.
void ArenaBuilder::replaceCall(func::CallOp call, func::FuncOp callee) {
  builder.setInsertionPoint(call);
  Location loc = call.getLoc();
  SmallVector<Value> operands(call.getOperands());
  // The buffers of results in their order, and last the arena.
  for (Type type : callee.getArgumentTypes().drop_front(operands.size()))
    operands.push_back(memref::AllocOp::create(builder, loc, cast<MemRefType>(type)));
  auto newCall = func::CallOp::create(builder, loc, callee, operands);
  auto scalars = newCall.getResults().begin();
  auto buffers = operands.begin() + call.getNumOperands();
  for (Value result : call.getResults()) {
    if (!isa<MemRefType>(result.getType())) {
      result.replaceAllUsesWith(*scalars++);
      continue;
    }
    Value buffer = *buffers++;
    if (buffer.getType() != result.getType())
      buffer = memref::CastOp::create(builder, loc, result.getType(), buffer);
    result.replaceAllUsesWith(buffer);
  }
  call.erase();
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// Where a value is that shows all or a part of a buffer; nothing if that is not the same
/// in every execution, or not one piece of memory.
std::optional<Place> ArenaBuilder::findPlace(Value value) {
  auto type = dyn_cast<MemRefType>(value.getType());
  int64_t offset = 0;
  SmallVector<int64_t> strides;
  if (!type || !type.hasStaticShape() || failed(type.getStridesAndOffset(strides, offset)) ||
      ShapedType::isDynamic(offset))
    return std::nullopt;
  int64_t expected = 1;
  for (auto [size, stride] : llvm::reverse(llvm::zip_equal(type.getShape(), strides))) {
    if (size != 1 && stride != expected)
      return std::nullopt;
    expected *= size;
  }
  // Offsets in types are from the beginning of the buffer.
  while (auto view = value.getDefiningOp<ViewLikeOpInterface>()) {
    if (isa<memref::ViewOp, memref::ReinterpretCastOp>(view))
      break;
    value = view.getViewSource();
  }
  int64_t start = offset * getBytes(MemRefType::get({1}, type.getElementType()));
  if (auto view = value.getDefiningOp<memref::ViewOp>()) {
    std::optional<int64_t> shift = getConstantIntValue(view.getByteShift());
    if (!shift)
      return std::nullopt;
    return Place{view.getSource(), *shift + start};
  }
  if (isa<BlockArgument>(value)
          ? cast<BlockArgument>(value).getOwner() == &function.getBody().front()
          : isa<memref::AllocOp>(value.getDefiningOp()))
    return Place{value, start};
  return std::nullopt;
}

LogicalResult ArenaBuilder::moveResultsToCaller() {
  bool isCalled = !SymbolTable::symbolKnownUseEmpty(function, function->getParentOp());
  if (!isCalled && (options.results != ArenaResults::Caller || !function.isPublic()))
    return success();
  Operation *end = getReturn();
  for (OpOperand &operand : end->getOpOperands()) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    if (!type)
      continue;
    auto marker = builder.getDictionaryAttr(
        builder.getNamedAttr(RematDialect::getResultAttrName(), builder.getUnitAttr()));
    if (failed(function.insertArgument(function.getNumArguments(), withoutOffset(type), marker,
                                       operand.get().getLoc())))
      return failure();
    Value buffer = function.getArguments().back();
    // All of a buffer, and not a view of it.
    auto allocation = operand.get().getDefiningOp<memref::AllocOp>();
    if (allocation && type.hasStaticShape() && type == buffer.getType()) {
      allocation.replaceAllUsesWith(buffer);
      allocation.erase();
    } else {
      builder.setInsertionPoint(end);
      memref::CopyOp::create(builder, operand.get().getLoc(), operand.get(), buffer);
      operand.set(buffer);
    }
  }
  return success();
}

/// Says where the results are, and returns them no more.
LogicalResult ArenaBuilder::removeResults(const ArenaPlan &plan) {
  Operation *end = getReturn();
  llvm::BitVector isRemoved(end->getNumOperands());
  SmallVector<Attribute> places;
  llvm::DenseMap<Value, int64_t> offsets;
  for (auto [buffer, offset] : llvm::zip_equal(plan.buffers, plan.packing.offsets))
    offsets[memref::AllocOp(buffer.allocation).getResult()] = offset;
  int64_t resultBytes = 0;
  llvm::DenseSet<Value> counted;
  for (OpOperand &operand : end->getOpOperands()) {
    if (!isa<BaseMemRefType>(operand.get().getType()))
      continue;
    std::optional<Place> place = findPlace(operand.get());
    if (!place)
      return end->emitError("result ") << operand.getOperandNumber() << " of '"
                                       << function.getSymName() << "' has no fixed place in memory";
    isRemoved.set(operand.getOperandNumber());
    NamedAttrList info;
    info.append("type", TypeAttr::get(withoutOffset(operand.get().getType())));
    if (auto argument = dyn_cast<BlockArgument>(place->buffer)) {
      info.append("argument", builder.getI64IntegerAttr(argument.getArgNumber()));
    } else {
      place->offset += offsets.lookup(place->buffer);
      if (counted.insert(place->buffer).second)
        resultBytes += getBytes(place->buffer.getType());
    }
    info.append("offset", builder.getI64IntegerAttr(place->offset));
    places.push_back(info.getDictionary(function.getContext()));
  }
  end->eraseOperands(isRemoved);
  if (failed(function.eraseResults(isRemoved)))
    return failure();
  function->setAttr(RematDialect::getResultsAttrName(), builder.getArrayAttr(places));
  function->setAttr(RematDialect::getResultBytesAttrName(), builder.getI64IntegerAttr(resultBytes));
  return success();
}

//===----------------------------------------------------------------------===//
// The arena
//===----------------------------------------------------------------------===//

FailureOr<ArenaPlan> ArenaBuilder::plan() {
  FailureOr<std::vector<AllocatedBuffer>> buffers = computeBufferLifetimes(function);
  if (failed(buffers))
    return failure();
  ArenaPlan plan;
  plan.buffers = std::move(*buffers);
  std::vector<planner::Buffer> lifetimes;
  int64_t sum = 0;
  for (AllocatedBuffer &buffer : plan.buffers) {
    MemRefType type = buffer.allocation.getType();
    if (!type.getLayout().isIdentity() || type.getMemorySpace())
      return buffer.allocation.emitError("a buffer of type ")
             << type << " cannot be a part of an arena";
    lifetimes.push_back(buffer.lifetime);
    if (llvm::AddOverflow(sum, planner::align(buffer.lifetime.bytes, options.alignment), sum) ||
        sum > planner::kMaxPackingCapacity)
      return function.emitError("the buffers of '")
             << function.getSymName() << "' have more than 2^61 bytes";
  }
  plan.packing = planner::packBestFit(lifetimes, options.alignment, kMaxVisits);
  int64_t capacity = options.getCapacity ? options.getCapacity(function) : 0;
  if (capacity > 0 && plan.packing.arenaBytes > capacity)
    if (std::optional<planner::Packing> exact = planner::packWithin(
            lifetimes, options.alignment, capacity, planner::kExactPackingVisits))
      plan.packing = std::move(*exact);
  if (llvm::Error error = planner::verifyPacking(lifetimes, options.alignment, plan.packing))
    return function.emitError(llvm::toString(std::move(error)));
  return plan;
}

void ArenaBuilder::setSizes(const ArenaPlan &plan) {
  int64_t argumentBytes = 0;
  for (Type type : function.getArgumentTypes())
    argumentBytes += getBytes(type);
  for (auto [name, bytes] :
       {std::pair(RematDialect::getArenaBytesAttrName(), plan.packing.arenaBytes),
        std::pair(RematDialect::getArgumentBytesAttrName(), argumentBytes),
        std::pair(RematDialect::getConstantBytesAttrName(), getConstantBytes(function)),
        std::pair(RematDialect::getArenaAlignmentAttrName(), options.alignment)})
    function->setAttr(name, builder.getI64IntegerAttr(bytes));
}

LogicalResult ArenaBuilder::apply(const ArenaPlan &plan) {
  if (failed(removeResults(plan)))
    return failure();
  setSizes(plan);
  auto type = MemRefType::get({plan.packing.arenaBytes}, builder.getI8Type());
  auto marker = builder.getDictionaryAttr(
      builder.getNamedAttr(RematDialect::getArenaAttrName(), builder.getUnitAttr()));
  if (failed(function.insertArgument(function.getNumArguments(), type, marker, function.getLoc())))
    return failure();
  Value arena = function.getArguments().back();
  for (auto [buffer, offset] : llvm::zip_equal(plan.buffers, plan.packing.offsets)) {
    memref::AllocOp allocation = buffer.allocation;
    builder.setInsertionPoint(allocation);
    Value shift = arith::ConstantIndexOp::create(builder, allocation.getLoc(), offset);
    Value view = memref::ViewOp::create(builder, allocation.getLoc(), allocation.getType(), arena,
                                        shift, ValueRange());
    allocation.replaceAllUsesWith(view);
    allocation.erase();
  }
  // Those that nothing uses are no part of the plan.
  SmallVector<Operation *> dead;
  function.walk([&](Operation *op) {
    if (isa<memref::DeallocOp>(op) || (isa<memref::AllocOp>(op) && op->use_empty()))
      dead.push_back(op);
  });
  for (Operation *op : dead)
    op->erase();
  return success();
}

int64_t mlir::remat::getConstantBytes(func::FuncOp function) {
  DataLayout layout = DataLayout::closest(function);
  int64_t bytes = 0;
  llvm::DenseSet<StringRef> globals;
  function.walk([&](memref::GetGlobalOp global) {
    if (globals.insert(global.getName()).second)
      bytes += getStorageBytes(global.getType(), layout).value_or(0);
  });
  return bytes;
}

/// All functions with a body, callees first.
static FailureOr<std::vector<func::FuncOp>> orderByCalls(ModuleOp module) {
  std::vector<func::FuncOp> order;
  const CallGraph graph(module);
  for (auto component = llvm::scc_begin(&graph); !component.isAtEnd(); ++component) {
    for (CallGraphNode *node : *component) {
      if (node->isExternal())
        continue;
      auto function = dyn_cast<func::FuncOp>(node->getCallableRegion()->getParentOp());
      if (!function)
        continue;
      if (component.hasCycle())
        return function.emitError("'")
               << function.getSymName() << "' calls itself, so its memory cannot be planned";
      order.push_back(function);
    }
  }
  return order;
}

/// Emits an error where there is nothing to plan.
static LogicalResult checkUnplanned(func::FuncOp function) {
  if (function->hasAttr(RematDialect::getArenaBytesAttrName()))
    return function.emitError("'") << function.getSymName() << "' has a planned arena already";
  WalkResult result = function.walk([&](Operation *op) -> WalkResult {
    auto isTensor = llvm::IsaPred<TensorType>;
    if (llvm::none_of(op->getOperandTypes(), isTensor) &&
        llvm::none_of(op->getResultTypes(), isTensor))
      return WalkResult::advance();
    return op->emitError("'") << op->getName()
                              << "' computes with tensors: run remat-bufferize first";
  });
  return failure(result.wasInterrupted());
}

LogicalResult
mlir::remat::planArenas(ModuleOp module, const ArenaOptions &options,
                        llvm::function_ref<LogicalResult(func::FuncOp, const ArenaPlan &)> visit) {
  FailureOr<std::vector<func::FuncOp>> order = orderByCalls(module);
  if (failed(order))
    return failure();
  for (func::FuncOp function : *order)
    if (failed(checkUnplanned(function)))
      return failure();
  SymbolTableCollection symbols;
  for (func::FuncOp function : *order) {
    ArenaBuilder builder(function, symbols, options);
    builder.prepareCalls();
    if (failed(builder.moveResultsToCaller()))
      return failure();
    FailureOr<ArenaPlan> plan = builder.plan();
    if (failed(plan) || failed(visit(function, *plan)) || failed(builder.apply(*plan)))
      return failure();
  }
  return success();
}
