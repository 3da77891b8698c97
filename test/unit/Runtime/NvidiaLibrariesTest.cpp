//===- NvidiaLibrariesTest.cpp - What NVIDIA's own libraries say ------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Without a GPU, cuDNN makes descriptors and says which size an output has. Skipped where the
// libraries are not installed.
//
//===----------------------------------------------------------------------===//

#include "ConvolutionDescriptors.h"

#include "gtest/gtest.h"
#include <algorithm>
#include <dlfcn.h>
#include <numeric>
#include <random>

using namespace mlir::remat;
using namespace mlir::remat::cuda;

namespace {

class RandomConvolution {
public:
  explicit RandomConvolution(unsigned seed) : engine(seed) {}

  RematConvolution make() {
    RematConvolution how = {};
    how.inputType = how.filterType = how.outputType =
        pick({RematElement::F16, RematElement::BF16, RematElement::F32, RematElement::F64,
              RematElement::TF32});
    how.rank = pick<int64_t>({1, 2, 3});
    how.batch = pick<int64_t>({1, 2, 16});
    how.groups = pick<int64_t>({1, 1, 2, 4});
    how.inputChannels = pick<int64_t>({1, 3, 16});
    how.outputChannels = pick<int64_t>({1, 5, 32});
    std::vector<int64_t> input = {how.batch, how.groups * how.inputChannels};
    std::vector<int64_t> filter = {how.groups, how.outputChannels, how.inputChannels};
    std::vector<int64_t> output = {how.batch, how.groups * how.outputChannels};
    for (int dim = 0; dim < how.rank; ++dim) {
      how.windowSizes[dim] = pick<int64_t>({1, 2, 3, 7, 14});
      how.outputSizes[dim] = pick<int64_t>({1, 2, 3, 7, 14});
      how.strides[dim] = pick<int64_t>({1, 1, 2});
      how.dilations[dim] = pick<int64_t>({1, 1, 2});
      how.inputSizes[dim] = (how.outputSizes[dim] - 1) * how.strides[dim] +
                            (how.windowSizes[dim] - 1) * how.dilations[dim] + 1 +
                            pick<int64_t>({0, 0, 1, 2});
      input.push_back(how.inputSizes[dim]);
      filter.push_back(how.windowSizes[dim]);
      output.push_back(how.outputSizes[dim]);
    }
    bool isInOrder = pick({true, false});
    setStrides(how.inputStrides, input, isInOrder);
    setStrides(how.filterStrides, filter, isInOrder);
    setStrides(how.outputStrides, output, isInOrder);
    return how;
  }

private:
  template <typename T>
  T pick(std::initializer_list<T> values) {
    return values.begin()[engine() % values.size()];
  }

  void setStrides(int64_t *strides, const std::vector<int64_t> &sizes, bool isInOrder) {
    std::vector<size_t> order(sizes.size());
    std::iota(order.begin(), order.end(), 0);
    for (size_t index = isInOrder ? 0 : order.size(); index > 1; --index)
      std::swap(order[index - 1], order[engine() % index]);
    int64_t stride = 1;
    for (auto dim = order.rbegin(); dim != order.rend(); ++dim) {
      strides[*dim] = stride;
      stride *= sizes[*dim];
    }
  }

  std::mt19937 engine;
};

/// Whether the library is there; then it has all functions.
template <typename Functions>
bool isThere(Functions &functions) {
  std::string wrong = openLibrary(functions);
  EXPECT_EQ(wrong.find("has no function"), std::string::npos) << wrong;
  return wrong.empty();
}

TEST(NvidiaLibrariesTest, FunctionsOfProducts) {
  BlasFunctions blas;
  if (!isThere(blas))
    GTEST_SKIP() << "no cuBLASLt";
}

TEST(NvidiaLibrariesTest, ConvolutionsHaveTheirOutput) {
  DnnFunctions dnn;
  if (!isThere(dnn))
    GTEST_SKIP() << "no cuDNN";
  auto getOutputDim = reinterpret_cast<decltype(&cudnnGetConvolutionNdForwardOutputDim)>(
      dlsym(dlopen("libcudnn.so.9", RTLD_NOW), "cudnnGetConvolutionNdForwardOutputDim"));
  ASSERT_TRUE(getOutputDim);
  constexpr unsigned kSeed = 1;
  constexpr int kNumConvolutions = 1000;
  RandomConvolution random(kSeed);
  int numForms = 0;
  for (int number = 0; number < kNumConvolutions; ++number) {
    std::optional<DeviceConvolutions> taken = getDeviceConvolutions(random.make());
    ASSERT_TRUE(taken) << "number " << number;
    for (const DeviceConvolution &form : taken->forms) {
      ++numForms;
      ConvolutionDescriptors descriptors;
      ASSERT_EQ(describe(dnn, form, descriptors), CUDNN_STATUS_SUCCESS) << "number " << number;
      int count = form.output.numDimensions, sizes[5] = {};
      ASSERT_EQ(getOutputDim(descriptors.convolution, descriptors.input, descriptors.filter, count,
                             sizes),
                CUDNN_STATUS_SUCCESS);
      EXPECT_TRUE(std::equal(sizes, sizes + count, form.output.sizes)) << "number " << number;
      destroy(dnn, descriptors);
    }
  }
  EXPECT_GT(numForms, kNumConvolutions);
}

} // namespace
