//===- LibrarySpeed.cpp - Compiled products and convolutions, and a library -===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each shape: the time of a function of one operation, compiled as any training step is,
// and of a direct call of OpenBLAS or oneDNN, by turns in one process, with as many threads
// as OPENBLAS_NUM_THREADS and OMP_NUM_THREADS say for both. Direct calls add to their result,
// too, but for gradients, where oneDNN cannot; and oneDNN has its operands in the formats that
// it likes best already, so that it copies nothing. Prints a Markdown table of the shortest
// times, which other work on the machine disturbs least. Exit code 1 if a compiled operation
// has less than 0.8 of the speed.
//
//   RematLibrarySpeed [RUNS]
//
//===----------------------------------------------------------------------===//

#include "Remat/Conversion/Passes.h"
#include "Remat/Dialect/IR/BufferizableOpInterfaceImpl.h"
#include "Remat/Dialect/IR/RematDialect.h"
#include "Remat/Execution/ObjectFile.h"
#include "Remat/Execution/StepProgram.h"
#include "Remat/ExternalModels/Register.h"
#include "Remat/Pipelines/FitArena.h"
#include "Remat/Pipelines/Passes.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <cblas.h>
#include <chrono>
#include <functional>
#include <oneapi/dnnl/dnnl.hpp>

using namespace mlir;
using namespace mlir::remat;
using dnnl::memory;
using llvm::formatv;

static constexpr double kLeastSpeed = 0.8;

namespace {
/// Memory of a large alignment.
class Buffer {
public:
  explicit Buffer(size_t bytes) : data(std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096)) {
    std::memset(data, 0, bytes);
  }
  Buffer(Buffer &&other) noexcept : data(std::exchange(other.data, nullptr)) {}
  ~Buffer() { std::free(data); }

  void *get() const { return data; }

private:
  void *data;
};

/// A compiled function with memory for its arguments and its arena.
struct Step {
  StepProgram program;
  std::vector<Buffer> buffers;
  std::vector<void *> arguments;

  void run() { program.run(arguments); }
};

struct Case {
  std::string name;
  /// The types of the arguments %a, %b and %c, and what computes %0, of the type of the last.
  std::array<std::string, 3> types;
  std::string operations;
  double flops;
  std::function<void()> direct;
};
} // namespace

static std::optional<Step> compile(MLIRContext &context, const Case &which) {
  std::string text = formatv("func.func @step(%a: tensor<{0}>, %b: tensor<{1}>, "
                             "%c: tensor<{2}> {{remat.donated}) -> tensor<{2}> {{\n"
                             "{3}  return %0 : tensor<{2}>\n}\n",
                             which.types[0], which.types[1], which.types[2], which.operations);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  FitOptions options;
  options.rematerialize.target = llvm::cantFail(Target::get("cpu"));
  PassManager after(&context);
  buildLowerToCPU(after);
  if (!module || failed(fitArenas(*module, options)))
    return std::nullopt;
  std::vector<Buffer> buffers;
  std::vector<void *> arguments;
  for (Type type : module->lookupSymbol<func::FuncOp>("step").getArgumentTypes()) {
    auto memref = cast<MemRefType>(type);
    buffers.emplace_back(memref.getNumElements() * memref.getElementTypeBitWidth() / 8 + 1);
    arguments.push_back(buffers.back().get());
  }
  if (failed(after.run(*module)))
    return std::nullopt;
  auto object = llvm::cantFail(compileToObject(*module, "step"));
  return Step{llvm::cantFail(StepProgram::load(std::move(object), "step")), std::move(buffers),
              std::move(arguments)};
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// An operation on values of these types whose result is %0.
static std::string makeOperation(StringRef name, StringRef a, StringRef b,
                                 ArrayRef<std::string> types) {
  return formatv("  %0 = {0} ins({1}, {2} : tensor<{3}>, tensor<{4}>) outs(%c : tensor<{5}>)"
                 " -> tensor<{5}>\n",
                 name, a, b, types[0], types[1], types[2]);
}

/// The value `name`t.
static std::string makeTranspose(StringRef name, StringRef type, StringRef result,
                                 StringRef permutation) {
  return formatv("  {0}e = tensor.empty() : tensor<{2}>\n"
                 "  {0}t = linalg.transpose ins({0} : tensor<{1}>) outs({0}e : tensor<{2}>)"
                 " permutation = {3}\n",
                 name, type, result, permutation);
}

static Case makeProduct(StringRef name, int64_t m, int64_t n, int64_t k, bool isTransposed) {
  auto a = std::make_shared<Buffer>(m * k * sizeof(float));
  auto b = std::make_shared<Buffer>(k * n * sizeof(float));
  auto c = std::make_shared<Buffer>(m * n * sizeof(float));
  std::string maps = isTransposed
                         ? "indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) "
                           "-> (n, k)>, affine_map<(m, n, k) -> (m, n)>]"
                         : "";
  std::array<std::string, 3> types = {formatv("{0}x{1}xf32", m, k),
                                      isTransposed ? formatv("{0}x{1}xf32", n, k).str()
                                                   : formatv("{0}x{1}xf32", k, n).str(),
                                      formatv("{0}x{1}xf32", m, n)};
  return {formatv("{0}: {1} x {2} x {3}{4}", name, m, k, n, isTransposed ? ", transposed" : ""),
          types, makeOperation("linalg.matmul " + maps, "%a", "%b", types), 2.0 * m * n * k, [=] {
            cblas_sgemm(CblasRowMajor, CblasNoTrans, isTransposed ? CblasTrans : CblasNoTrans, m, n,
                        k, 1, static_cast<const float *>(a->get()), k,
                        static_cast<const float *>(b->get()), isTransposed ? k : n, 1,
                        static_cast<float *>(c->get()), n);
          }};
}

/// A convolution of square images, without padding.
struct Convolution {
  int64_t batch, size, in, out, window, stride;

  int64_t getSide() const { return (size - window) / stride + 1; }
  double getFlops() const {
    return 2.0 * batch * getSide() * getSide() * in * out * window * window;
  }
  memory::desc describe(const memory::dims &sizes, memory::format_tag tag) const {
    return {sizes, memory::data_type::f32, tag};
  }
  memory::desc getInput() const {
    return describe({batch, in, size, size}, memory::format_tag::nhwc);
  }
  memory::desc getFilter() const {
    return describe({out, in, window, window}, memory::format_tag::any);
  }
  memory::desc getOutput() const {
    return describe({batch, out, getSide(), getSide()}, memory::format_tag::nhwc);
  }
};

static const dnnl::engine &getEngine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

static dnnl::convolution_forward::primitive_desc getForward(const Convolution &how, bool adds) {
  dnnl::convolution_forward::desc forward(
      dnnl::prop_kind::forward_training, dnnl::algorithm::convolution_direct, how.getInput(),
      how.getFilter(), how.getOutput(), {how.stride, how.stride}, {0, 0}, {0, 0});
  dnnl::post_ops operations;
  if (adds)
    operations.append_sum();
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(operations);
  return {forward, attributes, getEngine()};
}

static std::function<void()> makeCall(const dnnl::primitive &primitive,
                                      const std::unordered_map<int, memory> &arguments) {
  return [=] {
    dnnl::stream stream(getEngine());
    primitive.execute(stream, arguments);
    stream.wait();
  };
}

/// As the captured graphs have it, with channels last and a filter of [height, width, input
/// channel, output channel].
static Case makeConvolution(StringRef name, const Convolution &how) {
  dnnl::convolution_forward::primitive_desc kind = getForward(how, /*adds=*/true);
  auto [batch, size, in, out, window, stride] = how;
  std::array<std::string, 3> types = {formatv("{0}x{1}x{1}x{2}xf32", batch, size, in),
                                      formatv("{0}x{0}x{1}x{2}xf32", window, in, out),
                                      formatv("{0}x{1}x{1}x{2}xf32", batch, how.getSide(), out)};
  std::string operation =
      formatv("linalg.conv_2d_nhwc_hwcf {{dilations = dense<1> : tensor<2xi64>, strides = "
              "dense<{0}> : tensor<2xi64>}",
              stride);
  return {formatv("{0}: {1} x {2}^2, {3} to {4} channels, window {5}^2, stride {6}", name, batch,
                  size, in, out, window, stride),
          types, makeOperation(operation, "%a", "%b", types), how.getFlops(),
          makeCall(dnnl::convolution_forward(kind),
                   {{DNNL_ARG_SRC, memory(kind.src_desc(), getEngine())},
                    {DNNL_ARG_WEIGHTS, memory(kind.weights_desc(), getEngine())},
                    {DNNL_ARG_DST, memory(kind.dst_desc(), getEngine())}})};
}

/// The gradient of a filter as the captured graphs have it: a convolution whose window is the
/// gradient of the result, with the batch as the channels of the input; both are transposed.
static Case makeGradient(StringRef name, const Convolution &how) {
  dnnl::convolution_backward_weights::desc gradient(
      dnnl::algorithm::convolution_direct, how.getInput(), how.getFilter(), how.getOutput(),
      {how.stride, how.stride}, {0, 0}, {0, 0});
  dnnl::convolution_backward_weights::primitive_desc kind(gradient, getEngine(),
                                                          getForward(how, /*adds=*/false));
  auto [batch, size, in, out, window, stride] = how;
  int64_t side = how.getSide();
  std::array<std::string, 3> types = {formatv("{0}x{1}x{1}x{2}xf32", batch, size, in),
                                      formatv("{0}x{1}x{1}x{2}xf32", batch, side, out),
                                      formatv("{0}x{1}x{1}x{2}xf32", in, window, out)};
  std::array<std::string, 3> transposed = {formatv("{2}x{1}x{1}x{0}xf32", batch, size, in),
                                           formatv("{1}x{1}x{0}x{2}xf32", batch, side, out),
                                           types[2]};
  return {formatv("{0}: filter gradient, {1} x {2}^2, {3} to {4} channels, window {5}^2", name,
                  batch, size, in, out, window),
          types,
          makeTranspose("%a", types[0], transposed[0], "[3, 1, 2, 0]") +
              makeTranspose("%b", types[1], transposed[1], "[1, 2, 0, 3]") +
              makeOperation("linalg.conv_2d_nhwc_hwcf", "%at", "%bt", transposed),
          how.getFlops(),
          makeCall(dnnl::convolution_backward_weights(kind),
                   {{DNNL_ARG_SRC, memory(kind.src_desc(), getEngine())},
                    {DNNL_ARG_DIFF_WEIGHTS, memory(kind.diff_weights_desc(), getEngine())},
                    {DNNL_ARG_DIFF_DST, memory(kind.diff_dst_desc(), getEngine())}})};
}

static std::vector<Case> makeCases() {
  std::vector<Case> cases;
  cases.push_back(makeProduct("perceptron", 8, 4096, 1024, false));
  cases.push_back(makeProduct("perceptron", 4096, 4096, 1024, false));
  cases.push_back(makeProduct("GPT-2", 256, 2304, 768, false));
  cases.push_back(makeProduct("GPT-2", 256, 768, 3072, false));
  cases.push_back(makeProduct("GPT-2", 256, 50257, 768, true));
  cases.push_back(makeConvolution("ResNet-50", {4, 229, 3, 64, 7, 2}));
  cases.push_back(makeConvolution("ResNet-50", {4, 58, 64, 64, 3, 1}));
  cases.push_back(makeConvolution("ResNet-50", {4, 56, 64, 256, 1, 1}));
  cases.push_back(makeConvolution("ResNet-50", {4, 30, 128, 128, 3, 2}));
  cases.push_back(makeConvolution("ResNet-50", {4, 9, 512, 512, 3, 1}));
  cases.push_back(makeConvolution("U-Net", {1, 258, 64, 64, 3, 1}));
  cases.push_back(makeConvolution("U-Net", {1, 66, 256, 256, 3, 1}));
  cases.push_back(makeGradient("ResNet-50", {4, 58, 64, 64, 3, 1}));
  cases.push_back(makeGradient("U-Net", {1, 66, 256, 256, 3, 1}));
  return cases;
}

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

static double measure(llvm::function_ref<void()> run) {
  auto begin = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

int main(int argc, char **argv) {
  int64_t runs = 15;
  if (argc > 2 || (argc == 2 && (StringRef(argv[1]).getAsInteger(10, runs) || runs < 1))) {
    llvm::errs() << "usage: RematLibrarySpeed [RUNS]\n";
    return EXIT_FAILURE;
  }
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registry.insert<RematDialect>();
  registerAllExternalModels(registry);
  registerBufferizableOpInterfaceExternalModels(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();

  bool isSlow = false;
  llvm::outs() << "| operation | compiled, ms | direct, ms | GFLOP/s | speed |\n"
               << "| --- | --- | --- | --- | --- |\n";
  for (const Case &which : makeCases()) {
    std::optional<Step> step = compile(context, which);
    if (!step)
      return EXIT_FAILURE;
    // The first runs create primitives.
    step->run();
    which.direct();
    double mine = std::numeric_limits<double>::max(), theirs = mine;
    for (int64_t run = 0; run < runs; ++run) {
      mine = std::min(mine, measure([&] { step->run(); }));
      theirs = std::min(theirs, measure(which.direct));
    }
    isSlow |= theirs < kLeastSpeed * mine;
    llvm::outs() << formatv("| {0} | {1:f2} | {2:f2} | {3:f0} | {4:f2} |\n", which.name, mine * 1e3,
                            theirs * 1e3, which.flops / mine * 1e-9, theirs / mine);
    llvm::outs().flush();
  }
  return isSlow ? EXIT_FAILURE : EXIT_SUCCESS;
}
