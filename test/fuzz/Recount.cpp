//===- Recount.cpp - The memory of a function, counted slowly ---------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Recount.h"

#include "Interpreter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using namespace mlir;
using namespace mlir::remat::fuzz;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// Bytes of an `index` where `value` is: 8, or what the generator's data layout
/// says.
static int64_t getIndexSize(Value value) {
  Operation *op = value.getParentRegion()->getParentOp();
  while (op->getParentOp())
    op = op->getParentOp();
  Attribute layout = op->getAttr("dlti.dl_spec");
  std::string text;
  llvm::raw_string_ostream os(text);
  if (layout)
    layout.print(os);
  return StringRef(text).contains("index = 32") ? 4 : 8;
}

/// 0 for what has no known size.
static int64_t getElementSize(Type type, Value value) {
  if (auto complex = dyn_cast<ComplexType>(type))
    return 2 * getElementSize(complex.getElementType(), value);
  if (isa<IndexType>(type))
    return getIndexSize(value);
  if (type.isIntOrFloat())
    return llvm::PowerOf2Ceil(llvm::divideCeil(type.getIntOrFloatBitWidth(), 8));
  return 0;
}

static int64_t getSize(Value value) {
  auto shaped = dyn_cast<ShapedType>(value.getType());
  if (!shaped)
    return getElementSize(value.getType(), value);
  if (!shaped.hasStaticShape())
    return 0;
  int64_t elements = 1;
  for (int64_t dim : shaped.getShape())
    elements *= dim;
  return elements * getElementSize(shaped.getElementType(), value);
}

//===----------------------------------------------------------------------===//
// Where results live
//===----------------------------------------------------------------------===//

/// The value of a constant operation, if it is one.
static Attribute getConstant(Operation *op) {
  StringRef name = op->getName().getStringRef();
  if (name != "arith.constant" && name != "stablehlo.constant" && name != "complex.constant")
    return {};
  auto properties = dyn_cast_or_null<DictionaryAttr>(op->getPropertiesAsAttribute());
  return properties ? properties.get("value") : Attribute();
}

/// What identifies the data that an operation refers to, if it is part of the
/// program.
static Attribute getProgramData(Operation *op) {
  if (op->getName().getStringRef() == "memref.get_global")
    return op->getPropertiesAsAttribute();
  auto elements = dyn_cast_or_null<DenseElementsAttr>(getConstant(op));
  return elements && !elements.isSplat() ? elements : Attribute();
}

/// Whether a slice with these sizes is one piece of memory: dimensions of size 1,
/// then any one, then whole ones.
static bool isOnePiece(ArrayRef<int64_t> shape, ArrayRef<int64_t> sizes) {
  size_t dim = 0;
  while (dim < sizes.size() && sizes[dim] == 1)
    ++dim;
  for (++dim; dim < sizes.size(); ++dim)
    if (sizes[dim] != shape[dim])
      return false;
  return true;
}

/// The operand whose bytes a result shows.
static Value getViewed(OpResult result) {
  Operation *op = result.getOwner();
  StringRef name = op->getName().getStringRef();
  if (isBarrier(op))
    return op->getOperand(result.getResultNumber());
  if (name == "tensor.expand_shape" || name == "tensor.collapse_shape" || name == "tensor.cast" ||
      name == "stablehlo.reshape" || name == "bufferization.to_tensor" || name == "fuzz.view" ||
      name == "memref.subview")
    return result.getResultNumber() == 0 ? op->getOperand(0) : Value();
  // The generator makes slices with strides of 1 only.
  if (name == "tensor.extract_slice" || name == "stablehlo.slice") {
    auto source = cast<ShapedType>(op->getOperand(0).getType());
    auto slice = cast<ShapedType>(result.getType());
    if (source.getRank() == slice.getRank() && isOnePiece(source.getShape(), slice.getShape()))
      return op->getOperand(0);
  }
  return {};
}

/// The value whose storage a value shows.
static Value getRoot(Value value) {
  while (auto result = dyn_cast<OpResult>(value)) {
    Value viewed = getViewed(result);
    if (!viewed)
      break;
    value = viewed;
  }
  return value;
}

/// The operand that a result overwrites.
static Value getDestination(OpResult result) {
  Operation *op = result.getOwner();
  if (op->getName().getStringRef() == "fuzz.reuse")
    return op->getOperand(1);
  if (auto destinations = dyn_cast<DestinationStyleOpInterface>(op))
    if (OpOperand *init = destinations.getTiedOpOperand(result))
      return init->get();
  return {};
}

/// Whether the operand is there for its shape only.
static bool isShapeOnly(OpOperand &operand) {
  Operation *op = operand.getOwner();
  StringRef name = op->getName().getStringRef();
  if (name == "tensor.dim" || name == "memref.dim" || name == "stablehlo.get_dimension_size")
    return operand.getOperandNumber() == 0;
  auto destinations = dyn_cast<DestinationStyleOpInterface>(op);
  if (destinations && name.starts_with("linalg.") && !destinations.isDpsInit(&operand) &&
      op->getNumRegions() == 1 && op->getRegion(0).hasOneBlock()) {
    Block &body = op->getRegion(0).front();
    return operand.getOperandNumber() < body.getNumArguments() &&
           body.getArgument(operand.getOperandNumber()).use_empty();
  }
  return false;
}

/// Whether regions are code for single elements, which runs in registers.
static bool isPerElement(Operation *op) {
  StringRef name = op->getName().getStringRef();
  return name.starts_with("linalg.") || name.starts_with("tensor.") || name == "stablehlo.reduce" ||
         name == "stablehlo.all_reduce";
}

//===----------------------------------------------------------------------===//
// Counting
//===----------------------------------------------------------------------===//

namespace {
class Counter {
public:
  explicit Counter(Block &block) : block(block) {
    for (Operation &op : block)
      operations.push_back(&op);
    for (auto [index, op] : llvm::enumerate(operations)) {
      for (OpOperand &operand : op->getOpOperands())
        if (!isShapeOnly(operand))
          lastReader[operand.get()] = index;
      llvm::SetVector<Value> captured;
      getUsedValuesDefinedAbove(op->getRegions(), captured);
      for (Value value : captured)
        lastReader[value] = index;
    }
  }

  void addBoundary(Value value, int64_t bytes) {
    storageOf[value] = storages.size();
    storages.push_back({0, int64_t(operations.size()), bytes, true});
  }
  void addProgramData(Attribute data, int64_t bytes) {
    if (constants.try_emplace(data, storages.size()).second)
      storages.push_back({0, int64_t(operations.size()), bytes, true});
  }

  /// Gives every result its storage.
  void run();
  /// Lets results, and destinations that only they are written to, count 0 bytes.
  /// Before `run`.
  void leaveOutResults();
  /// Counts the results that no operation has put into memory.
  void addMadeResults() {
    int64_t bytes = getHandedOver(operations.back());
    // Program data stays where it is.
    llvm::SmallSetVector<Value, 4> operands(operations.back()->operand_begin(),
                                            operations.back()->operand_end());
    for (Value operand : operands) {
      if (Operation *producer = getRoot(operand).getDefiningOp();
          producer && getProgramData(producer))
        bytes += getSize(operand);
    }
    if (bytes)
      workspaces.push_back({int64_t(operations.size()) - 1, int64_t(operations.size()), bytes});
  }
  std::vector<CountedBuffer> getBuffers(bool boundary) const;

private:
  struct CountedStorage {
    int64_t begin, end, bytes;
    bool isBoundary;
  };
  static constexpr int64_t kNowhere = -1;

  void place(OpResult result, int64_t index);
  bool isReadBehind(int64_t storage, int64_t index) const;
  int64_t getHandedOver(Operation *op) const;
  int64_t getCounted(Value value) const { return leftOut.contains(value) ? 0 : getSize(value); }

  Block &block;
  std::vector<Operation *> operations;
  llvm::DenseMap<Value, int64_t> lastReader, storageOf;
  llvm::DenseMap<Attribute, int64_t> constants;
  std::vector<CountedStorage> storages;
  std::vector<CountedBuffer> workspaces;
  llvm::DenseSet<Value> leftOut;
};
} // namespace

static int64_t getWorkspace(Operation *op);

/// Whether some value in the storage is read behind operation `index`.
bool Counter::isReadBehind(int64_t storage, int64_t index) const {
  for (auto [value, place] : storageOf) {
    if (place != storage)
      continue;
    auto it = lastReader.find(value);
    if (it != lastReader.end() && it->second > index)
      return true;
  }
  return false;
}

/// Bytes of constants and destinations that a caller or a callee gets, and of parts of a
/// storage that a callee gets.
int64_t Counter::getHandedOver(Operation *op) const {
  llvm::SmallSetVector<Value, 4> operands(op->operand_begin(), op->operand_end());
  int64_t bytes = 0;
  for (Value operand : operands) {
    auto it = storageOf.find(operand);
    bool isNowhere = it != storageOf.end() && it->second == kNowhere;
    if (isNowhere || (isa<func::CallOp>(op) && getSize(operand) < getSize(getRoot(operand))))
      bytes += getSize(operand);
  }
  return bytes;
}

void Counter::place(OpResult result, int64_t index) {
  Operation *op = result.getOwner();
  if (Attribute data = getProgramData(op)) {
    storageOf[result] = constants.find(data)->second;
    return;
  }
  StringRef name = op->getName().getStringRef();
  if (getConstant(op) || name == "tensor.empty") {
    storageOf[result] = kNowhere;
    return;
  }
  // Where an outside value lives is not known here, and nobody's business.
  auto find = [&](Value value) {
    auto it = storageOf.find(value);
    return it == storageOf.end() ? kNowhere : it->second;
  };
  if (Value viewed = getViewed(result)) {
    storageOf[result] = find(viewed);
    return;
  }
  if (Value destination = getDestination(result)) {
    int64_t storage = find(destination);
    int64_t numReads = 0;
    for (Value operand : op->getOperands())
      numReads += find(operand) == storage;
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    for (Value value : captured)
      numReads += find(value) == storage;
    if (storage != kNowhere && !storages[storage].isBoundary &&
        storages[storage].bytes == getCounted(result) && numReads == 1 &&
        !isReadBehind(storage, index)) {
      storageOf[result] = storage;
      return;
    }
  }
  storageOf[result] = storages.size();
  storages.push_back({index, index + 1, getCounted(result), false});
}

void Counter::run() {
  for (auto [index, op] : llvm::enumerate(operations)) {
    for (OpResult result : op->getResults())
      place(result, index);
    if (int64_t bytes = getWorkspace(op) + (isa<func::CallOp>(op) ? getHandedOver(op) : 0))
      workspaces.push_back({int64_t(index), int64_t(index) + 1, bytes});
  }
  for (auto [value, storage] : storageOf) {
    if (storage == kNowhere || storages[storage].isBoundary)
      continue;
    int64_t &end = storages[storage].end;
    if (auto it = lastReader.find(value); it != lastReader.end())
      end = std::max(end, it->second + 1);
    for (auto [index, op] : llvm::enumerate(operations))
      if (value.getDefiningOp() == op)
        end = std::max<int64_t>(end, index + 1);
  }
}

void Counter::leaveOutResults() {
  for (Value value : operations.back()->getOperands()) {
    auto result = dyn_cast<OpResult>(value);
    while (result && getViewed(result))
      result = dyn_cast<OpResult>(getViewed(result));
    while (result && result.getOwner()->getBlock() == &block && leftOut.insert(result).second) {
      auto destination = dyn_cast_if_present<OpResult>(getDestination(result));
      llvm::SmallPtrSet<Operation *, 2> readers;
      if (destination)
        for (OpOperand &use : destination.getUses())
          if (!isShapeOnly(use))
            readers.insert(block.findAncestorOpInBlock(*use.getOwner()));
      if (readers.size() != 1 || llvm::count(result.getOwner()->getOperands(), destination) != 1 ||
          getViewed(destination) || getSize(destination) != getSize(result))
        break;
      result = destination;
    }
  }
}

std::vector<CountedBuffer> Counter::getBuffers(bool boundary) const {
  std::vector<CountedBuffer> buffers;
  for (const CountedStorage &storage : storages)
    if (storage.isBoundary == boundary && storage.bytes > 0)
      buffers.push_back({storage.begin, storage.end, storage.bytes});
  if (!boundary)
    buffers.insert(buffers.end(), workspaces.begin(), workspaces.end());
  llvm::sort(buffers);
  return buffers;
}

/// The most bytes that what a block defines takes at once.
static int64_t getInnerPeak(Block &block) {
  Counter counter(block);
  for (BlockArgument argument : block.getArguments())
    counter.addBoundary(argument, 0);
  for (Operation &op : block)
    if (Attribute data = getProgramData(&op))
      counter.addProgramData(data, 0);
  counter.run();
  std::vector<CountedBuffer> buffers = counter.getBuffers(/*boundary=*/false);
  int64_t peak = 0;
  for (int64_t time = 0, e = block.getOperations().size(); time < e; ++time) {
    int64_t live = 0;
    for (const CountedBuffer &buffer : buffers)
      live += buffer.begin <= time && time < buffer.end ? buffer.bytes : 0;
    peak = std::max(peak, live);
  }
  return peak;
}

static func::FuncOp getCallee(Operation *op) {
  auto call = dyn_cast<func::CallOp>(op);
  return call ? SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, call.getCalleeAttr())
              : nullptr;
}

/// Bytes of what a structured operation needs in memory for its shape: empty tensors, and splat
/// constants if one of its loops runs as often as only they say.
static int64_t getShapeBytes(Operation *op) {
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured)
    return 0;
  int64_t empties = 0, splats = 0;
  SmallVector<AffineExpr> told;
  for (OpOperand &operand : op->getOpOperands()) {
    DenseElementsAttr elements;
    if (structured.isDpsInput(&operand) && matchPattern(operand.get(), m_Constant(&elements)) &&
        elements.isSplat())
      splats += getSize(operand.get());
    else
      llvm::append_range(told, structured.getMatchingIndexingMap(&operand).getResults());
    Operation *producer = operand.get().getDefiningOp();
    if (isShapeOnly(operand) && producer && producer->getName().getStringRef() == "tensor.empty")
      empties += getSize(operand.get());
  }
  for (unsigned loop = 0; loop < structured.getNumLoops(); ++loop)
    if (!llvm::is_contained(told, getAffineDimExpr(loop, op->getContext())))
      return empties + splats;
  return empties;
}

/// The number of the carried value in whose place a value is at the end of a loop's body if
/// everything is done in place; -1 if there is none.
static int64_t findCarried(Value value, ArrayRef<Value> carried) {
  while (auto result = dyn_cast<OpResult>(value)) {
    unsigned number = result.getResultNumber();
    Value next = getViewed(result);
    if (!next)
      next = getDestination(result);
    if (auto loop = dyn_cast<scf::ForOp>(result.getOwner()))
      next = loop.getInitArgs()[number];
    if (auto loop = dyn_cast<scf::WhileOp>(result.getOwner());
        loop && number < loop.getInits().size())
      next = loop.getInits()[number];
    if (!next)
      return -1;
    value = next;
  }
  for (size_t index = 0; index < carried.size(); ++index)
    if (carried[index] == value)
      return index;
  return -1;
}

/// Bytes of the tensors that a loop carries beside its results: those that it passes on
/// elsewhere, and copies of those that change places.
static int64_t getMovedOn(Operation *op) {
  int64_t bytes = 0;
  SmallVector<Value> carried, yielded;
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    llvm::append_range(carried, loop.getRegionIterArgs());
    llvm::append_range(yielded, loop.getYieldedValues());
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    OperandRange passed = loop.getConditionOp().getArgs();
    for (auto [index, argument] : llvm::enumerate(loop.getBeforeArguments())) {
      bool stays = index < passed.size() && passed[index] == argument;
      if (!stays && isa<TensorType>(argument.getType()))
        bytes += getSize(argument);
      carried.push_back(stays ? Value(loop.getAfterArguments()[index]) : Value());
    }
    llvm::append_range(yielded, loop.getYieldedValues());
  }
  for (size_t index = 0; index < yielded.size(); ++index) {
    if (!isa<TensorType>(yielded[index].getType()))
      continue;
    int64_t from = findCarried(yielded[index], carried);
    if (from >= 0 && from != int64_t(index) && yielded[from] != carried[from])
      bytes += getSize(yielded[index]);
  }
  return bytes;
}

static int64_t getWorkspace(Operation *op) {
  if (isa<linalg::LinalgOp>(op))
    return getShapeBytes(op);
  if (op->getName().getStringRef() == "fuzz.scratch")
    return getSize(op->getResult(0));
  if (func::FuncOp callee = getCallee(op))
    return callee.isExternal() ? 0 : getInnerPeak(callee.getBody().front());
  int64_t peak = 0;
  if (!isPerElement(op))
    for (Region &region : op->getRegions())
      if (!region.empty())
        peak = std::max(peak, getInnerPeak(region.front()));
  return peak + getMovedOn(op);
}

/// All constants in the function and in what it calls.
static void collectProgramData(Operation *root, llvm::SetVector<Operation *> &found) {
  root->walk([&](Operation *op) {
    if (getProgramData(op))
      found.insert(op);
    if (func::FuncOp callee = getCallee(op))
      collectProgramData(callee, found);
  });
}

Recount mlir::remat::fuzz::recount(FunctionOpInterface function, bool temporariesOnly,
                                   int64_t alignment) {
  Block &block = function.getFunctionBody().front();
  Counter counter(block);
  for (BlockArgument argument : block.getArguments())
    counter.addBoundary(argument, temporariesOnly ? 0 : getSize(argument));
  llvm::SetVector<Operation *> data;
  collectProgramData(function, data);
  for (Operation *op : data)
    counter.addProgramData(getProgramData(op), getSize(op->getResult(0)));
  if (temporariesOnly)
    counter.leaveOutResults();
  counter.run();
  if (!temporariesOnly)
    counter.addMadeResults();

  Recount result;
  result.buffers = counter.getBuffers(/*boundary=*/false);
  int64_t boundary = 0;
  for (const CountedBuffer &buffer : counter.getBuffers(/*boundary=*/true)) {
    boundary += buffer.bytes;
    result.boundaryBytes += llvm::alignTo(buffer.bytes, alignment);
  }
  for (int64_t time = 0, e = block.getOperations().size(); time < e; ++time) {
    int64_t live = boundary, aligned = result.boundaryBytes;
    for (const CountedBuffer &buffer : result.buffers) {
      if (buffer.begin > time || time >= buffer.end)
        continue;
      live += buffer.bytes;
      aligned += llvm::alignTo(buffer.bytes, alignment);
    }
    result.liveBytes.push_back(live);
    result.livePeak = std::max(result.livePeak, live);
    result.alignedPeak = std::max(result.alignedPeak, aligned);
  }
  return result;
}
