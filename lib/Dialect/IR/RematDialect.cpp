//===- RematDialect.cpp - The remat dialect ---------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Verifiers, effects and canonicalization of the remat dialect.
//
//===----------------------------------------------------------------------===//

#include "Remat/Dialect/IR/RematDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::remat;

#include "Remat/Dialect/IR/RematDialect.cpp.inc"
#include "Remat/Dialect/IR/RematEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "Remat/Dialect/IR/RematAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "Remat/Dialect/IR/RematOps.cpp.inc"

void RematDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "Remat/Dialect/IR/RematOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "Remat/Dialect/IR/RematAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Discardable attributes
//===----------------------------------------------------------------------===//

static bool isCount(Attribute attribute, int64_t least) {
  auto value = dyn_cast<IntegerAttr>(attribute);
  return value && value.getType().isSignlessInteger(64) && value.getInt() >= least;
}

/// Whether an entry of `remat.results` says where a result of `function` is.
static bool isPlace(Attribute attribute, FunctionOpInterface function) {
  auto place = dyn_cast<DictionaryAttr>(attribute);
  if (!place)
    return false;
  auto type = place.getAs<TypeAttr>("type");
  Attribute offset = place.get("offset"), argument = place.get("argument");
  return type && isa<MemRefType>(type.getValue()) && offset && isCount(offset, 0) &&
         (!argument || (isCount(argument, 0) &&
                        cast<IntegerAttr>(argument).getInt() < function.getNumArguments()));
}

/// Attributes of functions whose memory is planned.
static LogicalResult verifyFunctionAttribute(FunctionOpInterface function,
                                             NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == RematDialect::getResultsAttrName()) {
    auto places = dyn_cast<ArrayAttr>(attribute.getValue());
    if (!places || !llvm::all_of(places, [&](Attribute place) { return isPlace(place, function); }))
      return function.emitError("expected '")
             << name << "' to be an array of dictionaries with 'type', a memref, 'offset' and "
             << "perhaps 'argument'";
    return success();
  }
  if (name == RematDialect::getTimedOperationsAttrName()) {
    if (!isa<DenseI64ArrayAttr>(attribute.getValue()))
      return function.emitError("expected '") << name << "' to be an array of 'i64'";
    return success();
  }
  bool isAlignment = name == RematDialect::getArenaAlignmentAttrName();
  bool isBytes = llvm::is_contained(
      {RematDialect::getArenaBytesAttrName(), RematDialect::getArgumentBytesAttrName(),
       RematDialect::getResultBytesAttrName(), RematDialect::getConstantBytesAttrName(),
       RematDialect::getMinimumBytesAttrName()},
      name);
  if (!isAlignment && !isBytes)
    return emitError(function.getLoc(), "'")
           << name << "' means nothing on '" << function->getName() << "'";
  if (!isCount(attribute.getValue(), isAlignment))
    return function.emitError("expected '")
           << name << "' to be an 'i64' integer of at least " << int64_t(isAlignment);
  return success();
}

LogicalResult RematDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (auto function = dyn_cast<FunctionOpInterface>(op))
    return verifyFunctionAttribute(function, attribute);
  if (isa<SymbolOpInterface, ModuleOp>(op))
    return emitError(op->getLoc(), "'") << name << "' means nothing on '" << op->getName() << "'";
  if (name == getPolicyAttrName()) {
    if (!isa<PolicyAttr>(attribute.getValue()))
      return op->emitOpError("expected '") << name << "' to be a '#remat.policy'";
    return success();
  }
  if (name == getRecomputableAttrName()) {
    if (!isa<BoolAttr>(attribute.getValue()))
      return op->emitOpError("expected '") << name << "' to be 'true' or 'false'";
    return success();
  }
  if (llvm::is_contained({getCostAttrName(), getWorkspaceAttrName(), getCloneOfAttrName()}, name)) {
    if (!isCount(attribute.getValue(), 0))
      return op->emitOpError("expected '") << name << "' to be a non-negative 'i64' integer";
    return success();
  }
  if (name == getViewAttrName()) {
    if (!isa<UnitAttr>(attribute.getValue()) ||
        op->getName().getStringRef() != "tensor.extract_slice")
      return op->emitOpError("expected '") << name << "' to be a unit attribute of a slice";
    return success();
  }
  return op->emitOpError("has an unknown attribute '") << name << "' of the remat dialect";
}

LogicalResult RematDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned argument,
                                                     NamedAttribute attribute) {
  StringRef name = attribute.getName();
  bool isKnown = llvm::is_contained(
      {getDonatedAttrName(), getArenaAttrName(), getResultAttrName(), getTimesAttrName()}, name);
  if (isa<FunctionOpInterface>(op) && isKnown) {
    if (!isa<UnitAttr>(attribute.getValue()))
      return emitError(op->getLoc(), "expected '")
             << name << "' of argument " << argument << " to be a unit attribute";
    return success();
  }
  return emitError(op->getLoc(), "'")
         << name << "' means nothing on an argument, but argument " << argument << " has it";
}

LogicalResult RematDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned result,
                                                        NamedAttribute attribute) {
  return emitError(op->getLoc(), "'")
         << attribute.getName().strref() << "' means nothing on a result, but result " << result
         << " has it";
}

//===----------------------------------------------------------------------===//
// BarrierOp
//===----------------------------------------------------------------------===//

namespace {
/// What `remat.barrier` claims to allocate, so that nothing merges or hoists it.
struct BarrierResource : public SideEffects::Resource::Base<BarrierResource> {
  StringRef getName() final { return "remat.barrier"; }
};
} // namespace

LogicalResult BarrierOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                          ValueRange operands, DictionaryAttr,
                                          OpaqueProperties properties, RegionRange,
                                          SmallVectorImpl<Type> &types) {
  auto numInputs = properties.as<Properties *>()->operandSegmentSizes[0];
  llvm::append_range(types, operands.take_front(numInputs).getTypes());
  return success();
}

void BarrierOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  for (OpResult result : getOperation()->getResults())
    effects.emplace_back(MemoryEffects::Allocate::get(), result, BarrierResource::get());
}

LogicalResult BarrierOp::verify() {
  if (getInputs().empty())
    return emitOpError("expected at least one input");
  if (getAfter().empty())
    return emitOpError("expected at least one 'after' value");
  for (Type type : getOperation()->getOperandTypes())
    if (isa<BaseMemRefType>(type))
      return emitOpError("expected no memref, but got ") << type;
  return success();
}

/// Drops inputs whose result is unused and repeated `after` values.
///
///     %r:2 = remat.barrier %a, %b after %t, %t  // only %r#0 is used
///  -> %r   = remat.barrier %a after %t
LogicalResult BarrierOp::canonicalize(BarrierOp op, PatternRewriter &rewriter) {
  SmallVector<Value> inputs, results;
  for (auto [input, result] : llvm::zip_equal(op.getInputs(), op.getResults())) {
    if (result.use_empty())
      continue;
    inputs.push_back(input);
    results.push_back(result);
  }
  llvm::SetVector<Value> after(llvm::from_range, op.getAfter());
  if (inputs.empty() ||
      (inputs.size() == op.getInputs().size() && after.size() == op.getAfter().size()))
    return failure();

  auto smaller = BarrierOp::create(rewriter, op.getLoc(), inputs, after.getArrayRef());
  smaller->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  for (auto [result, replacement] : llvm::zip_equal(results, smaller.getResults()))
    rewriter.replaceAllUsesWith(result, replacement);
  rewriter.eraseOp(op);
  return success();
}
