//===- LibraryCalls.cpp - What libraries compute ----------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations are recognised by their loops, strides and bodies, whatever their names are:
// loops of one role that are one after the other in all operands are one dimension.
//
//===----------------------------------------------------------------------===//

#include "Remat/Conversion/LibraryCalls.h"

#include "Remat/Runtime/DeviceCalls.h"
#include "Remat/Runtime/Runtime.h"
#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace mlir::remat;
using linalg::LinalgOp;

static constexpr StringLiteral kMatmul = "rematMatmul", kConvolution = "rematConvolution",
                               kDeviceMatmul = "rematDeviceMatmul",
                               kDeviceConvolution = "rematDeviceConvolution";

namespace {
/// One loop, or several that are like one: its size, and the stride of each operand in
/// elements, 0 where the operand does not depend on it.
struct Dimension {
  int64_t size = 1;
  std::array<int64_t, 3> strides = {0, 0, 0};
};
using Dimensions = SmallVector<Dimension>;
} // namespace

//===----------------------------------------------------------------------===//
// Operands and bodies
//===----------------------------------------------------------------------===//

static std::optional<RematElement> getElement(Type type) {
  if (type.isInteger(1))
    return RematElement::I1;
  if (type.isF16())
    return RematElement::F16;
  if (type.isBF16())
    return RematElement::BF16;
  if (type.isF32())
    return RematElement::F32;
  if (type.isF64())
    return RematElement::F64;
  return std::nullopt;
}

/// Types of the two inputs and the output of an operation that multiplies and adds floats,
/// after conversions to a larger type. Its sums may be in a smaller type than those of the
/// library.
static std::optional<std::array<RematElement, 3>> getElements(LinalgOp op) {
  if (op->getNumOperands() != 3 || op.getNumDpsInits() != 1)
    return std::nullopt;
  Block &body = *op.getBlock();
  bool isProduct = linalg::detail::isContractionBody(body, [](Operation *first, Operation *second) {
    return isa<arith::MulFOp>(first) && isa<arith::AddFOp>(second);
  });
  bool isExact = llvm::all_of(body, [](Operation &nested) {
    // Of integers, only truth values are taken.
    return isa<arith::MulFOp, arith::AddFOp, arith::ExtFOp, arith::UIToFPOp, linalg::YieldOp>(
        nested);
  });
  if (!isProduct || !isExact)
    return std::nullopt;
  std::array<RematElement, 3> elements;
  for (auto [index, argument] : llvm::enumerate(body.getArguments())) {
    std::optional<RematElement> element = getElement(argument.getType());
    if (!element)
      return std::nullopt;
    elements[index] = *element;
  }
  bool isF64 = elements[2] == RematElement::F64;
  if (elements[2] == RematElement::I1 ||
      llvm::any_of(elements, [&](RematElement e) { return (e == RematElement::F64) != isF64; }))
    return std::nullopt;
  return elements;
}

/// Strides of a static tensor or memref.
static std::optional<SmallVector<int64_t>> getStrides(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasStaticShape())
    return std::nullopt;
  // There is nothing whose place would matter.
  if (shaped.getNumElements() == 0)
    return SmallVector<int64_t>(shaped.getRank(), 0);
  if (auto memref = dyn_cast<MemRefType>(type)) {
    SmallVector<int64_t> strides;
    int64_t offset = 0;
    if (failed(memref.getStridesAndOffset(strides, offset)) ||
        llvm::any_of(strides, ShapedType::isDynamic))
      return std::nullopt;
    return strides;
  }
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getEncoding())
    return std::nullopt;
  return computeStrides(tensor.getShape());
}

/// Of an operation with three operands.
static std::optional<std::array<SmallVector<int64_t>, 3>> getStrides(LinalgOp op) {
  std::array<SmallVector<int64_t>, 3> result;
  for (OpOperand &operand : op->getOpOperands()) {
    std::optional<SmallVector<int64_t>> strides = getStrides(operand.get().getType());
    if (!strides)
      return std::nullopt;
    result[operand.getOperandNumber()] = std::move(*strides);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

/// Joins loops of one role, from the outermost to the innermost in memory.
static void merge(Dimensions &dimensions) {
  llvm::erase_if(dimensions, [](const Dimension &dimension) { return dimension.size == 1; });
  llvm::stable_sort(dimensions, [](const Dimension &a, const Dimension &b) {
    return std::tie(a.strides[2], a.strides[0], a.strides[1]) >
           std::tie(b.strides[2], b.strides[0], b.strides[1]);
  });
  Dimensions merged;
  for (const Dimension &inner : dimensions) {
    bool continues = !merged.empty() && llvm::all_of(llvm::seq(3), [&](int operand) {
      return merged.back().strides[operand] == inner.size * inner.strides[operand];
    });
    if (continues)
      merged.back() = {merged.back().size * inner.size, inner.strides};
    else
      merged.push_back(inner);
  }
  dimensions = std::move(merged);
}

/// The largest of the dimensions, which is removed from them.
static Dimension takeLargest(Dimensions &dimensions) {
  if (dimensions.empty())
    return {};
  auto largest =
      std::max_element(dimensions.begin(), dimensions.end(),
                       [](const Dimension &a, const Dimension &b) { return a.size < b.size; });
  Dimension result = *largest;
  dimensions.erase(largest);
  return result;
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

static std::optional<RematMatmul> matchMatmul(LinalgOp op) {
  std::optional<std::array<RematElement, 3>> elements = getElements(op);
  if (!elements)
    return std::nullopt;
  std::optional<std::array<SmallVector<int64_t>, 3>> strides = getStrides(op);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (!strides || !llvm::all_of(maps, [](AffineMap map) { return map.isProjectedPermutation(); }))
    return std::nullopt;

  Dimensions outer, rows, columns, inner;
  for (auto [loop, size] : llvm::enumerate(op.getStaticLoopRanges())) {
    Dimension dimension{size, {0, 0, 0}};
    bool isIn[3];
    for (int operand = 0; operand < 3; ++operand) {
      std::optional<unsigned> position =
          maps[operand].getResultPosition(getAffineDimExpr(loop, op.getContext()));
      isIn[operand] = position.has_value();
      dimension.strides[operand] = position ? (*strides)[operand][*position] : 0;
    }
    auto [isInA, isInB, isInC] = isIn;
    if (isInA && isInB)
      (isInC ? outer : inner).push_back(dimension);
    else if (isInC && (isInA || isInB))
      (isInA ? rows : columns).push_back(dimension);
    else
      return std::nullopt;
  }
  if (inner.empty())
    return std::nullopt;
  for (Dimensions *dimensions : {&outer, &rows, &columns, &inner})
    merge(*dimensions);
  Dimension row = takeLargest(rows), column = takeLargest(columns), summed = takeLargest(inner);
  for (Dimensions *rest : {&rows, &columns, &inner})
    llvm::append_range(outer, *rest);

  RematMatmul product{};
  if (outer.size() > std::size(product.outer))
    return std::nullopt;
  outer.resize(std::size(product.outer));
  std::tie(product.typeA, product.typeB, product.typeC) =
      std::tie((*elements)[0], (*elements)[1], (*elements)[2]);
  product.rows = row.size;
  product.columns = column.size;
  product.inner = summed.size;
  for (auto [index, dimension] : llvm::enumerate(outer)) {
    product.outer[index] = dimension.size;
    product.stridesA[index] = dimension.strides[0];
    product.stridesB[index] = dimension.strides[1];
    product.stridesC[index] = dimension.strides[2];
  }
  product.stridesA[4] = row.strides[0];
  product.stridesA[5] = summed.strides[0];
  product.stridesB[4] = summed.strides[1];
  product.stridesB[5] = column.strides[1];
  product.stridesC[4] = row.strides[2];
  product.stridesC[5] = column.strides[2];
  return product;
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

namespace {
/// A spatial dimension: position in the input, and how it depends on two loops.
struct SpatialDimension {
  unsigned position, outputLoop, windowLoop;
  int64_t stride, dilation;
};

class ConvolutionMatcher {
public:
  explicit ConvolutionMatcher(LinalgOp op)
      : op(op), ranges(op.getStaticLoopRanges()), maps(op.getIndexingMapsArray()) {}

  std::optional<RematConvolution> match();

private:
  bool isExact(const linalg::ConvolutionDimensions &roles);
  std::optional<SpatialDimension> findSpatial(unsigned outputLoop, ArrayRef<unsigned> windowLoops);
  int64_t getStride(unsigned operand, unsigned loop);
  std::optional<Dimension> getOne(ArrayRef<unsigned> loops);

  LinalgOp op;
  SmallVector<int64_t> ranges;
  SmallVector<AffineMap> maps;
  std::array<SmallVector<int64_t>, 3> strides;
};
} // namespace

/// Whether operands depend on loops in no other way than the roles of these say: spatial
/// dimensions of the input aside, which come in pairs, each loop is a dimension of the
/// operands that its role is in, once, and operands have no other dimensions.
bool ConvolutionMatcher::isExact(const linalg::ConvolutionDimensions &roles) {
  struct Role {
    ArrayRef<unsigned> loops;
    std::array<bool, 3> isIn;
  };
  const Role all[] = {
      {roles.batch, {true, false, true}},         {roles.outputImage, {false, false, true}},
      {roles.outputChannel, {false, true, true}}, {roles.filterLoop, {false, true, false}},
      {roles.inputChannel, {true, true, false}},  {roles.depth, {true, true, true}},
  };
  if (!maps[1].isProjectedPermutation() || !maps[2].isProjectedPermutation())
    return false;
  unsigned numLoops = 0, numPlain = 0;
  for (const Role &role : all)
    for (unsigned loop : role.loops) {
      AffineExpr dim = getAffineDimExpr(loop, op.getContext());
      for (unsigned operand = 0; operand < 3; ++operand)
        if (llvm::count(maps[operand].getResults(), dim) != int64_t(role.isIn[operand]))
          return false;
      numPlain += role.isIn[0];
      ++numLoops;
    }
  return numLoops == op.getNumLoops() &&
         maps[0].getNumResults() == numPlain + roles.outputImage.size();
}

/// The dimension of the input that an output loop and a window loop run over together.
std::optional<SpatialDimension> ConvolutionMatcher::findSpatial(unsigned outputLoop,
                                                                ArrayRef<unsigned> windowLoops) {
  for (auto [position, expression] : llvm::enumerate(maps[0].getResults())) {
    SmallVector<int64_t> factors;
    if (!expression.isFunctionOfDim(outputLoop) ||
        failed(getFlattenedAffineExpr(expression, maps[0].getNumDims(), 0, &factors)))
      continue;
    for (unsigned windowLoop : windowLoops) {
      bool isAlone = llvm::count(factors, 0) == int64_t(factors.size()) - 2;
      if (isAlone && factors[outputLoop] > 0 && factors[windowLoop] > 0)
        return SpatialDimension{unsigned(position), outputLoop, windowLoop, factors[outputLoop],
                                factors[windowLoop]};
    }
  }
  return std::nullopt;
}

int64_t ConvolutionMatcher::getStride(unsigned operand, unsigned loop) {
  std::optional<unsigned> position =
      maps[operand].getResultPosition(getAffineDimExpr(loop, op.getContext()));
  return position ? strides[operand][*position] : 0;
}

/// Loops of one role, if they are one dimension in memory.
std::optional<Dimension> ConvolutionMatcher::getOne(ArrayRef<unsigned> loops) {
  Dimensions dimensions;
  for (unsigned loop : loops)
    dimensions.push_back(
        {ranges[loop], {getStride(0, loop), getStride(1, loop), getStride(2, loop)}});
  merge(dimensions);
  if (dimensions.size() > 1)
    return std::nullopt;
  return dimensions.empty() ? Dimension() : dimensions.front();
}

/// The stride of channels of all groups; nothing if there is not one.
static std::optional<int64_t> joinGroups(const Dimension &groups, const Dimension &channels,
                                         unsigned operand) {
  if (groups.size == 1)
    return channels.strides[operand];
  if (channels.size == 1)
    return groups.strides[operand];
  if (groups.strides[operand] != channels.size * channels.strides[operand])
    return std::nullopt;
  return channels.strides[operand];
}

std::optional<RematConvolution> ConvolutionMatcher::match() {
  std::optional<std::array<RematElement, 3>> elements = getElements(op);
  if (!elements)
    return std::nullopt;
  std::optional<std::array<SmallVector<int64_t>, 3>> allStrides = getStrides(op);
  if (!allStrides)
    return std::nullopt;
  strides = std::move(*allStrides);
  FailureOr<linalg::ConvolutionDimensions> roles = linalg::inferConvolutionDims(op);
  if (failed(roles) || roles->outputImage.size() > 3 ||
      roles->outputImage.size() != roles->filterLoop.size() || !isExact(*roles))
    return std::nullopt;
  std::optional<Dimension> batch = getOne(roles->batch), groups = getOne(roles->depth),
                           inputChannels = getOne(roles->inputChannel),
                           outputChannels = getOne(roles->outputChannel);
  if (!batch || !groups || !inputChannels || !outputChannels)
    return std::nullopt;
  std::optional<int64_t> inputStride = joinGroups(*groups, *inputChannels, 0);
  std::optional<int64_t> outputStride = joinGroups(*groups, *outputChannels, 2);
  if (!inputStride || !outputStride)
    return std::nullopt;

  RematConvolution result{};
  std::tie(result.inputType, result.filterType, result.outputType) =
      std::tie((*elements)[0], (*elements)[1], (*elements)[2]);
  result.rank = roles->outputImage.size();
  result.batch = batch->size;
  result.groups = groups->size;
  result.inputChannels = inputChannels->size;
  result.outputChannels = outputChannels->size;
  for (int64_t *sizes : {result.inputSizes, result.windowSizes, result.outputSizes, result.strides,
                         result.dilations})
    std::fill_n(sizes, 3, 1);
  result.inputStrides[0] = batch->strides[0];
  result.inputStrides[1] = *inputStride;
  result.filterStrides[0] = groups->strides[1];
  result.filterStrides[1] = outputChannels->strides[1];
  result.filterStrides[2] = inputChannels->strides[1];
  result.outputStrides[0] = batch->strides[2];
  result.outputStrides[1] = *outputStride;
  for (auto [index, loop] : llvm::enumerate(roles->outputImage)) {
    std::optional<SpatialDimension> dimension = findSpatial(loop, roles->filterLoop);
    if (!dimension)
      return std::nullopt;
    auto input = cast<ShapedType>(op->getOperand(0).getType());
    result.inputSizes[index] = input.getDimSize(dimension->position);
    result.windowSizes[index] = ranges[dimension->windowLoop];
    result.outputSizes[index] = ranges[loop];
    result.strides[index] = dimension->stride;
    result.dilations[index] = dimension->dilation;
    result.inputStrides[2 + index] = strides[0][dimension->position];
    result.filterStrides[3 + index] = getStride(1, dimension->windowLoop);
    result.outputStrides[2 + index] = getStride(2, loop);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// A structure of 64-bit integers as these.
template <typename T>
static SmallVector<int64_t> toWords(const T &shape) {
  static_assert(sizeof(T) % sizeof(int64_t) == 0 && std::is_trivially_copyable_v<T>);
  SmallVector<int64_t> words(sizeof(T) / sizeof(int64_t));
  std::memcpy(words.data(), &shape, sizeof(T));
  return words;
}

bool mlir::remat::isLibraryFunction(StringRef name) {
  return llvm::is_contained({kMatmul, kConvolution, kDeviceMatmul, kDeviceConvolution}, name);
}

/// Lets the inputs of f32 be rounded to TF32.
static void allowTF32(RematElement &first, RematElement &second) {
  for (RematElement *type : {&first, &second})
    if (*type == RematElement::F32)
      *type = RematElement::TF32;
}

std::optional<LibraryCall> mlir::remat::matchLibraryCall(LinalgOp op, Libraries libraries) {
  bool isCPU = libraries == Libraries::CPU, isTF32 = libraries == Libraries::GPUWithTF32;
  auto makeCall = [](StringRef function, const auto &shape,
                     int64_t bytes) -> std::optional<LibraryCall> {
    if (bytes < 0)
      return std::nullopt;
    return LibraryCall{function, toWords(shape), bytes};
  };
  if (std::optional<RematMatmul> product = matchMatmul(op)) {
    if (isTF32)
      allowTF32(product->typeA, product->typeB);
    return isCPU ? makeCall(kMatmul, *product, rematMatmulWorkspace(&*product))
                 : makeCall(kDeviceMatmul, *product, getDeviceMatmulWorkspace(*product));
  }
  if (std::optional<RematConvolution> convolution = ConvolutionMatcher(op).match()) {
    if (isTF32)
      allowTF32(convolution->inputType, convolution->filterType);
    return isCPU ? makeCall(kConvolution, *convolution, rematConvolutionWorkspace(&*convolution))
                 : makeCall(kDeviceConvolution, *convolution,
                            getDeviceConvolutionWorkspace(*convolution));
  }
  return std::nullopt;
}
