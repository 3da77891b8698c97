//===- KernelsToGPU.cpp - Structured operations as kernels of a GPU ---------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block has `points` times `terms` threads: so many neighbouring results, each the sum of
// what so many threads have added. Terms that are one after the other in memory go to
// threads that are one after the other, and so do results where the terms are not.
//
//     rows                      columns                    elements
//     results:  1, 8            results:  32               results:  256
//     terms:    256, 32         terms:    32, 8            terms:    1
//
// Thread t of a result adds terms t, t + terms, ... in their order; the partial results are
// added in a tree. All of that follows from shapes and layouts alone.
//
//===----------------------------------------------------------------------===//

#include "KernelAccess.h"
#include "KernelLoops.h"
#include "KernelTraffic.h"
#include "Remat/Conversion/Passes.h"
#include "StaticLayout.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::remat {
#define GEN_PASS_DEF_REMATKERNELSTOGPUPASS
#include "Remat/Conversion/Passes.h.inc"
} // namespace mlir::remat

using namespace mlir;
using namespace mlir::remat;
using linalg::GenericOp;
using linalg::LinalgOp;

/// Threads of a block, but for one that adds all terms of a few results.
static constexpr int64_t kBlockThreads = 256, kLargeBlockThreads = 1024;
/// Threads that execute together, and read neighbours at once.
static constexpr int64_t kWarp = 32;
/// Results that are enough to occupy a GPU with one thread for each.
static constexpr int64_t kManyResults = 1 << 15;
static constexpr StringLiteral kModuleName = "kernels";

//===----------------------------------------------------------------------===//
// Decisions
//===----------------------------------------------------------------------===//

namespace {
/// Which threads a block has; see above.
struct ThreadLayout {
  int64_t points = kBlockThreads, terms = 1;
  /// Whether neighbouring threads add terms of one result.
  bool isRows = false;

  int64_t getNumThreads() const { return points * terms; }
};
} // namespace

static ThreadLayout chooseLayout(GenericOp op, int64_t numPoints, int64_t numTerms) {
  ThreadLayout layout;
  layout.isRows = !isParallel(op, op.getNumLoops() - 1);
  bool isLong = numPoints < kWarp && numTerms > kLargeBlockThreads;
  if (layout.isRows && numTerms >= kWarp) {
    layout.terms = isLong                          ? kLargeBlockThreads
                   : numTerms >= 4 * kBlockThreads ? kBlockThreads
                                                   : kWarp;
    layout.points = std::max<int64_t>(kBlockThreads / layout.terms, 1);
  } else if (!layout.isRows && numPoints < kManyResults && numTerms >= kWarp) {
    layout.points = kWarp;
    layout.terms = numTerms >= kLargeBlockThreads ? kWarp : kBlockThreads / kWarp;
  }
  return layout;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

namespace {
/// Replaces a structured operation in a kernel by what each thread does.
class ThreadBuilder {
public:
  ThreadBuilder(IRRewriter &rewriter, gpu::GPUFuncOp kernel, GenericOp op)
      : rewriter(rewriter), loc(op.getLoc()), kernel(kernel), op(op) {
    for (auto [loop, range] : llvm::enumerate(op.getStaticLoopRanges())) {
      bool isPoint = isParallel(op, loop);
      (isPoint ? pointLoops : termLoops).push_back(loop);
      (isPoint ? numPoints : numTerms) *= range;
    }
    if (!termLoops.empty())
      combiners = matchCombiners(op);
    if (!combiners.empty())
      layout = chooseLayout(op, numPoints, numTerms);
  }

  /// The geometry of the launch: blocks, and threads of each.
  std::pair<int64_t, int64_t> build();
  /// Lets the threads of the only block compute results in turn, each all of its terms.
  void buildInBlock(Value thread);

private:
  void computePoint(Value point);
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(rewriter, loc, value); }
  Value divide(Value value, int64_t by) {
    return by == 1 ? value : arith::DivUIOp::create(rewriter, loc, value, constant(by)).getResult();
  }
  Value remainder(Value value, int64_t by) {
    return by == 1 ? constant(0)
                   : arith::RemUIOp::create(rewriter, loc, value, constant(by)).getResult();
  }

  void setIndices(ArrayRef<unsigned> loops, Value number, SmallVector<Value> &indices);
  SmallVector<Value> getPlace(OpOperand &operand, ValueRange indices);
  Value load(OpOperand &operand, ValueRange indices);
  SmallVector<Value> computeTerm(ValueRange indices, ValueRange sums);
  SmallVector<Value> addTerms(ValueRange indices, Value first, ValueRange start);
  SmallVector<Value> getNeutral();
  void store(ValueRange values, ValueRange indices);
  SmallVector<Value> combine(ValueRange a, ValueRange b);
  void reduceBlock(Value point, Value term, SmallVector<Value> &sums);
  void ifTrue(Value condition, function_ref<void()> body);

  IRRewriter &rewriter;
  Location loc;
  gpu::GPUFuncOp kernel;
  GenericOp op;
  SmallVector<unsigned> pointLoops, termLoops;
  int64_t numPoints = 1, numTerms = 1;
  /// Empty if one thread adds all terms of a result.
  SmallVector<Operation *> combiners;
  ThreadLayout layout;
};
} // namespace

/// Sets the indices of `loops` that belong to a number in row order.
void ThreadBuilder::setIndices(ArrayRef<unsigned> loops, Value number,
                               SmallVector<Value> &indices) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (unsigned loop : llvm::reverse(loops.drop_front(loops.empty() ? 0 : 1))) {
    indices[loop] = remainder(number, ranges[loop]);
    number = divide(number, ranges[loop]);
  }
  if (!loops.empty())
    indices[loops.front()] = number;
}

SmallVector<Value> ThreadBuilder::getPlace(OpOperand &operand, ValueRange indices) {
  SmallVector<OpFoldResult> values(indices);
  return getValueOrCreateConstantIndexOp(
      rewriter, loc,
      affine::makeComposedFoldedMultiResultAffineApply(
          rewriter, loc, op.getMatchingIndexingMap(&operand), values));
}

Value ThreadBuilder::load(OpOperand &operand, ValueRange indices) {
  if (!isa<MemRefType>(operand.get().getType()))
    return operand.get();
  return memref::LoadOp::create(rewriter, loc, operand.get(), getPlace(operand, indices));
}

/// What the body makes of the inputs at `indices` and of what is in the place of the
/// results.
SmallVector<Value> ThreadBuilder::computeTerm(ValueRange indices, ValueRange sums) {
  IRMapping mapping;
  for (OpOperand *operand : op.getDpsInputOperands())
    if (BlockArgument argument = op.getMatchingBlockArgument(operand); !argument.use_empty())
      mapping.map(argument, load(*operand, indices));
  mapping.map(op.getRegionOutputArgs(), sums);
  for (Operation &nested : op.getBody()->without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(nested))
      mapping.map(index.getResult(), indices[index.getDim()]);
    else
      rewriter.clone(nested, mapping);
  }
  return llvm::map_to_vector(op.getBody()->getTerminator()->getOperands(),
                             [&](Value value) { return mapping.lookupOrDefault(value); });
}

/// Adds every so many terms from the `first` on to what is there.
SmallVector<Value> ThreadBuilder::addTerms(ValueRange indices, Value first, ValueRange start) {
  SmallVector<Value> all(indices);
  if (termLoops.empty())
    return computeTerm(all, start);
  OpBuilder::InsertionGuard guard(rewriter);
  Value end = constant(numTerms), step = constant(layout.terms);
  auto loop = scf::ForOp::create(rewriter, loc, first, end, step, start);
  rewriter.setInsertionPointToStart(loop.getBody());
  setIndices(termLoops, loop.getInductionVar(), all);
  scf::YieldOp::create(rewriter, loc, computeTerm(all, loop.getRegionIterArgs()));
  return loop.getResults();
}

SmallVector<Value> ThreadBuilder::getNeutral() {
  return llvm::map_to_vector(combiners, [&](Operation *combiner) -> Value {
    return arith::ConstantOp::create(rewriter, loc, *arith::getNeutralElement(combiner));
  });
}

void ThreadBuilder::store(ValueRange values, ValueRange indices) {
  for (auto [value, init] : llvm::zip_equal(values, op.getDpsInitsMutable()))
    memref::StoreOp::create(rewriter, loc, value, init.get(), getPlace(init, indices));
}

SmallVector<Value> ThreadBuilder::combine(ValueRange a, ValueRange b) {
  SmallVector<Value> result;
  for (auto [combiner, left, right] : llvm::zip_equal(combiners, a, b)) {
    IRMapping mapping;
    mapping.map(combiner->getOperand(0), left);
    mapping.map(combiner->getOperand(1), right);
    result.push_back(rewriter.clone(*combiner, mapping)->getResult(0));
  }
  return result;
}

void ThreadBuilder::ifTrue(Value condition, function_ref<void()> body) {
  OpBuilder::InsertionGuard guard(rewriter);
  auto branch = scf::IfOp::create(rewriter, loc, condition, /*withElseRegion=*/false);
  rewriter.setInsertionPointToStart(branch.thenBlock());
  body();
}

/// Adds the partial results of the threads of each point, in a tree; thread 0 has the sum.
void ThreadBuilder::reduceBlock(Value point, Value term, SmallVector<Value> &sums) {
  MLIRContext *context = op.getContext();
  auto space = gpu::AddressSpaceAttr::get(context, gpu::AddressSpace::Workgroup);
  SmallVector<Value> partial;
  for (Value sum : sums)
    partial.push_back(kernel.addWorkgroupAttribution(
        MemRefType::get({layout.terms, layout.points}, sum.getType(), AffineMap(), space), loc));
  auto loadAt = [&](Value number) {
    return llvm::map_to_vector(partial, [&](Value buffer) -> Value {
      return memref::LoadOp::create(rewriter, loc, buffer, ValueRange{number, point});
    });
  };
  auto storeAt = [&](ValueRange values) {
    for (auto [value, buffer] : llvm::zip_equal(values, partial))
      memref::StoreOp::create(rewriter, loc, value, buffer, ValueRange{term, point});
  };
  storeAt(sums);
  for (int64_t half = layout.terms / 2; half > 0; half /= 2) {
    gpu::BarrierOp::create(rewriter, loc);
    Value isFirst =
        arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ult, term, constant(half));
    ifTrue(isFirst, [&] {
      Value other = arith::AddIOp::create(rewriter, loc, term, constant(half));
      SmallVector<Value> own = loadAt(term), others = loadAt(other);
      storeAt(combine(own, others));
    });
  }
  sums = loadAt(term);
}

/// One result, from the first term to the last.
void ThreadBuilder::computePoint(Value point) {
  SmallVector<Value> indices(op.getNumLoops(), constant(0));
  setIndices(pointLoops, point, indices);
  SmallVector<Value> start;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    bool isRead = op.payloadUsesValueFromOperand(&init) || !termLoops.empty();
    Type type = cast<MemRefType>(init.get().getType()).getElementType();
    start.push_back(
        isRead ? load(init, indices)
               : arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type)).getResult());
  }
  store(addTerms(indices, constant(0), start), indices);
}

void ThreadBuilder::buildInBlock(Value thread) {
  layout = ThreadLayout();
  rewriter.setInsertionPoint(op);
  Value end = constant(numPoints), step = constant(layout.getNumThreads());
  auto loop = scf::ForOp::create(rewriter, loc, thread, end, step);
  rewriter.setInsertionPointToStart(loop.getBody());
  computePoint(loop.getInductionVar());
  rewriter.eraseOp(op);
}

std::pair<int64_t, int64_t> ThreadBuilder::build() {
  rewriter.setInsertionPoint(op);
  Value thread = gpu::ThreadIdOp::create(rewriter, loc, gpu::Dimension::x);
  Value block = gpu::BlockIdOp::create(rewriter, loc, gpu::Dimension::x);
  Value inBlock = layout.isRows ? divide(thread, layout.terms) : remainder(thread, layout.points);
  if (layout.terms == 1)
    inBlock = thread;
  Value term = layout.isRows ? remainder(thread, layout.terms) : divide(thread, layout.points);
  Value point = arith::AddIOp::create(
      rewriter, loc, arith::MulIOp::create(rewriter, loc, block, constant(layout.points)), inBlock);
  Value isPoint =
      arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ult, point, constant(numPoints));
  SmallVector<Value> indices(op.getNumLoops(), constant(0));

  if (layout.terms == 1) {
    ifTrue(isPoint, [&] {
      setIndices(pointLoops, point, indices);
      SmallVector<Value> start;
      for (OpOperand &init : op.getDpsInitsMutable()) {
        bool isRead = op.payloadUsesValueFromOperand(&init) || !termLoops.empty();
        Type type = cast<MemRefType>(init.get().getType()).getElementType();
        start.push_back(
            isRead
                ? load(init, indices)
                : arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type)).getResult());
      }
      store(addTerms(indices, constant(0), start), indices);
    });
  } else {
    SmallVector<Value> neutral = getNeutral();
    auto branch = scf::IfOp::create(rewriter, loc, ValueRange(neutral).getTypes(), isPoint,
                                    /*addThenBlock=*/true, /*addElseBlock=*/true);
    rewriter.setInsertionPointToStart(branch.thenBlock());
    SmallVector<Value> inside(indices);
    setIndices(pointLoops, point, inside);
    scf::YieldOp::create(rewriter, loc, addTerms(inside, term, neutral));
    rewriter.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(rewriter, loc, neutral);
    rewriter.setInsertionPointAfter(branch);
    SmallVector<Value> sums(branch.getResults());
    reduceBlock(inBlock, term, sums);
    Value isFirst =
        arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, term, constant(0));
    ifTrue(arith::AndIOp::create(rewriter, loc, isFirst, isPoint), [&] {
      setIndices(pointLoops, point, indices);
      SmallVector<Value> start;
      for (OpOperand &init : op.getDpsInitsMutable())
        start.push_back(load(init, indices));
      store(combine(start, sums), indices);
    });
  }
  rewriter.eraseOp(op);
  return {llvm::divideCeil(numPoints, layout.points), layout.getNumThreads()};
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

namespace {
class KernelConverter {
public:
  explicit KernelConverter(ModuleOp module) : module(module), rewriter(module.getContext()) {
    rewriter.setInsertionPointToEnd(module.getBody());
    kernels = gpu::GPUModuleOp::create(rewriter, module.getLoc(), kModuleName);
    module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(), rewriter.getUnitAttr());
  }

  /// Makes a kernel of an outlined function, and launches of its calls.
  LogicalResult convert(func::FuncOp function, ArrayRef<func::CallOp> calls) {
    if (failed(checkSizes(function)))
      return failure();
    gpu::GPUFuncOp kernel = makeKernel(function);
    auto operations = kernel.getBody().getOps<LinalgOp>();
    std::pair<int64_t, int64_t> geometry = {1, ThreadLayout().getNumThreads()};
    if (operations.empty()) {
      buildLoop(kernel);
    } else if (LinalgOp op = *operations.begin(); llvm::is_contained(op.getStaticLoopRanges(), 0)) {
      kernel.erase();
      kernel = nullptr;
    } else {
      geometry = ThreadBuilder(rewriter, kernel, arrange(op)).build();
    }
    for (func::CallOp call : calls) {
      if (kernel)
        launch(call, kernel, geometry);
      call.erase();
    }
    function.erase();
    return success();
  }

private:
  /// Emits an error at an operation that no kernel can be made of.
  static LogicalResult checkSizes(func::FuncOp function) {
    bool isAny = !llvm::all_of(function.getArgumentTypes(), [](Type type) {
      auto memref = dyn_cast<MemRefType>(type);
      return !memref || hasStaticLayout(memref);
    });
    Operation *unknown = isAny ? &function.front().front() : nullptr;
    function.walk([&](LinalgOp op) {
      if (isAny || llvm::any_of(op.getStaticLoopRanges(), ShapedType::isDynamic))
        unknown = op;
    });
    if (!unknown)
      return success();
    return unknown->emitError("'") << unknown->getName()
                                   << "' has loops or operands of unknown sizes, which kernels "
                                      "of a GPU do not have";
  }

  /// A loop is executed by all threads of one block: they agree on what they read, for they
  /// wait before and after everything that is written.
  void buildLoop(gpu::GPUFuncOp kernel) {
    Location loc = kernel.getLoc();
    rewriter.setInsertionPointToStart(&kernel.getBody().front());
    Value thread = gpu::ThreadIdOp::create(rewriter, loc, gpu::Dimension::x);
    Value isFirst = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, thread,
                                          arith::ConstantIndexOp::create(rewriter, loc, 0));
    SmallVector<Operation *> writers;
    kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (!isa<LinalgOp, memref::StoreOp>(op))
        return WalkResult::advance();
      writers.push_back(op);
      return WalkResult::skip();
    });
    for (Operation *op : writers) {
      rewriter.setInsertionPoint(op);
      gpu::BarrierOp::create(rewriter, loc);
      rewriter.setInsertionPointAfter(op);
      gpu::BarrierOp::create(rewriter, loc);
      if (auto structured = dyn_cast<LinalgOp>(op)) {
        ThreadBuilder(rewriter, kernel, arrange(structured)).buildInBlock(thread);
        continue;
      }
      rewriter.setInsertionPoint(op);
      auto branch = scf::IfOp::create(rewriter, loc, isFirst, /*withElseRegion=*/false);
      rewriter.moveOpBefore(op, branch.thenYield());
    }
  }

  gpu::GPUFuncOp makeKernel(func::FuncOp function) {
    rewriter.setInsertionPointToEnd(kernels.getBody());
    auto kernel = gpu::GPUFuncOp::create(rewriter, function.getLoc(), function.getName(),
                                         function.getFunctionType());
    kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), rewriter.getUnitAttr());
    for (unsigned index = 0; index < function.getNumArguments(); ++index)
      kernel.setArgAttrs(index, function.getArgAttrDict(index));
    IRMapping mapping;
    Block &body = kernel.getBody().front();
    mapping.map(function.getArguments(),
                body.getArguments().take_front(function.getNumArguments()));
    rewriter.setInsertionPointToEnd(&body);
    for (Operation &nested : function.front().without_terminator())
      rewriter.clone(nested, mapping);
    gpu::ReturnOp::create(rewriter, function.getLoc());
    kernel.walk([&](memref::GetGlobalOp op) { addConstant(op.getNameAttr()); });
    for (LinalgOp op : kernel.getBody().getOps<LinalgOp>())
      if (std::optional<int64_t> bytes = getMinimumBytes(op))
        kernel->setAttr(RematDialect::getMinimumBytesAttrName(),
                        rewriter.getI64IntegerAttr(*bytes));
    return kernel;
  }

  /// Kernels have constants of their own.
  void addConstant(FlatSymbolRefAttr name) {
    if (SymbolTable::lookupSymbolIn(kernels, name))
      return;
    rewriter.setInsertionPointToStart(kernels.getBody());
    rewriter.clone(*SymbolTable::lookupSymbolIn(module, name));
  }

  GenericOp arrange(LinalgOp op) {
    FailureOr<GenericOp> arranged = arrangeLoops(rewriter, op);
    assert(succeeded(arranged) && "expected an operation on buffers");
    return *arranged;
  }

  void launch(func::CallOp call, gpu::GPUFuncOp kernel, std::pair<int64_t, int64_t> geometry) {
    Location loc = call.getLoc();
    rewriter.setInsertionPoint(call);
    auto constant = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(rewriter, loc, value);
    };
    Value one = constant(1), blocks = constant(geometry.first);
    Value threads = constant(geometry.second);
    gpu::LaunchFuncOp::create(rewriter, loc, kernel, {blocks, one, one}, {threads, one, one},
                              Value(), call.getOperands());
  }

  ModuleOp module;
  IRRewriter rewriter;
  gpu::GPUModuleOp kernels;
};

struct KernelsToGPUPass : public remat::impl::RematKernelsToGPUPassBase<KernelsToGPUPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::StringMap<SmallVector<func::CallOp>> callsOf;
    module.walk([&](func::CallOp call) { callsOf[call.getCallee()].push_back(call); });
    KernelConverter converter(module);
    for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (isKernel(function) && failed(converter.convert(function, callsOf[function.getName()])))
        return signalPassFailure();
    if (failed(checkHost(module)))
      signalPassFailure();
  }

  /// Whether a function is one structured operation, loop or branch with its constants and
  /// views.
  static bool isKernel(func::FuncOp function) {
    if (function.isExternal() || !function.isPrivate() || function.getNumResults() != 0 ||
        !function.getBody().hasOneBlock())
      return false;
    SmallVector<Operation *> operations;
    for (Operation &op : function.front().without_terminator())
      if (!op.hasTrait<OpTrait::ConstantLike>() &&
          !isa<ViewLikeOpInterface, memref::GetGlobalOp>(op))
        operations.push_back(&op);
    return operations.size() == 1 &&
           (isa<LinalgOp>(operations.front()) ||
            isa<scf::SCFDialect>(operations.front()->getDialect())) &&
           !operations.front()
                ->walk([](CallOpInterface) { return WalkResult::interrupt(); })
                .wasInterrupted();
  }

  /// Emits an error at a structured operation that is left to the host.
  static LogicalResult checkHost(ModuleOp module) {
    WalkResult result = module.walk<WalkOrder::PreOrder>([](Operation *op) {
      if (isa<gpu::GPUModuleOp>(op))
        return WalkResult::skip();
      if (!isa<LinalgOp>(op))
        return WalkResult::advance();
      op->emitError("'") << op->getName()
                         << "' is left to the host, which cannot access the memory of a GPU";
      return WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }
};
} // namespace
