//===- DeviceConvolutionTest.cpp - Convolutions as cuDNN takes them ---------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceLayouts.h"

#include "Remat/Runtime/DeviceCalls.h"

#include "gtest/gtest.h"

using namespace mlir::remat;

namespace {

/// Sets strides of consecutive dimensions, in the order of the list from the slowest.
void pack(int64_t *strides, const std::vector<int64_t> &sizes, const std::vector<int> &order) {
  int64_t stride = 1;
  for (auto dim = order.rbegin(); dim != order.rend(); ++dim) {
    strides[*dim] = stride;
    stride *= sizes[*dim];
  }
}

/// Of 2 images of 8 by 8 with 4 channels, windows of 3 by 3, 5 output channels in each group.
RematConvolution makeConvolution(bool channelsLast, int64_t groups = 1) {
  RematConvolution how = {};
  how.inputType = how.filterType = how.outputType = RematElement::F32;
  how.rank = 2;
  how.batch = 2;
  how.groups = groups;
  how.inputChannels = 4;
  how.outputChannels = 5;
  for (int dim = 0; dim < 3; ++dim) {
    how.inputSizes[dim] = dim < 2 ? 8 : 1;
    how.windowSizes[dim] = dim < 2 ? 3 : 1;
    how.outputSizes[dim] = dim < 2 ? 6 : 1;
    how.strides[dim] = how.dilations[dim] = 1;
  }
  std::vector<int> data =
      channelsLast ? std::vector<int>{0, 2, 3, 1} : std::vector<int>{0, 1, 2, 3};
  std::vector<int> filter =
      channelsLast ? std::vector<int>{0, 1, 3, 4, 2} : std::vector<int>{0, 1, 2, 3, 4};
  pack(how.inputStrides, {2, groups * 4, 8, 8}, data);
  pack(how.filterStrides, {groups, 5, 4, 3, 3}, filter);
  pack(how.outputStrides, {2, groups * 5, 6, 6}, data);
  return how;
}

/// The only form.
DeviceConvolution getForm(const RematConvolution &how) {
  std::optional<DeviceConvolutions> taken = getDeviceConvolutions(how);
  EXPECT_TRUE(taken && taken->forms.size() == 1);
  return taken && !taken->forms.empty() ? taken->forms.front() : DeviceConvolution();
}

TEST(DeviceConvolutionTest, PackedOperandsAreTakenAsTheyAre) {
  for (bool channelsLast : {false, true})
    for (int64_t groups : {1, 3}) {
      DeviceConvolution form = getForm(makeConvolution(channelsLast, groups));
      EXPECT_FALSE(form.isFilterGradient);
      EXPECT_EQ(form.channelsLast, channelsLast);
      EXPECT_EQ(form.groups, groups);
      EXPECT_EQ(form.numPieces, 0);
      EXPECT_EQ(form.stagingBytes, 0);
      EXPECT_EQ(form.filter.sizes[0], 5 * groups);
      EXPECT_EQ(form.filter.sizes[1], 4);
    }
}

TEST(DeviceConvolutionTest, OtherFiltersAreStaged) {
  // Input channels slowest.
  RematConvolution how = makeConvolution(/*channelsLast=*/false);
  pack(how.filterStrides, {1, 5, 4, 3, 3}, {0, 2, 1, 3, 4});
  DeviceConvolution form = getForm(how);
  EXPECT_EQ(form.numPieces, 1);
  EXPECT_EQ(form.stagingBytes, 768);
  EXPECT_EQ(form.givenPiece.strides[1], 45);
  EXPECT_EQ(form.packedPiece.strides[1], 9);
  EXPECT_EQ(getDeviceConvolutionWorkspace(how), form.stagingBytes + form.scratchBytes);

  // Groups between output channels.
  how = makeConvolution(/*channelsLast=*/false, /*groups=*/3);
  pack(how.filterStrides, {3, 5, 4, 3, 3}, {1, 0, 2, 3, 4});
  form = getForm(how);
  EXPECT_EQ(form.numPieces, 3);
  EXPECT_EQ(form.givenPieceStride, 36);
  EXPECT_EQ(form.packedPieceStride, 180);
}

TEST(DeviceConvolutionTest, GradientOfAFilter) {
  // The window is as large as the output was, channels and batch have changed places.
  RematConvolution how = makeConvolution(/*channelsLast=*/false);
  std::swap(how.windowSizes, how.outputSizes);
  std::swap(how.batch, how.inputChannels);
  std::swap(how.inputStrides[0], how.inputStrides[1]);
  pack(how.filterStrides, {1, 5, 2, 6, 6}, {0, 2, 1, 3, 4});
  pack(how.outputStrides, {4, 5, 3, 3}, {1, 0, 2, 3});
  std::optional<DeviceConvolutions> taken = getDeviceConvolutions(how);
  ASSERT_TRUE(taken);
  ASSERT_EQ(taken->forms.size(), 2u);
  const DeviceConvolution &gradient = taken->forms[0];
  EXPECT_TRUE(gradient.isFilterGradient);
  EXPECT_EQ(gradient.numPieces, 0);
  EXPECT_EQ(gradient.input.sizes[0], 2);
  EXPECT_EQ(gradient.input.sizes[1], 4);
  EXPECT_EQ(gradient.output.sizes[1], 5);
  EXPECT_EQ(gradient.filter.sizes[2], 3);
  const DeviceConvolution &forward = taken->forms[1];
  EXPECT_FALSE(forward.isFilterGradient);
  EXPECT_EQ(forward.numPieces, 1);
  // With groups there is only the other form.
  how.groups = 2;
  EXPECT_FALSE(getForm(how).isFilterGradient);
}

TEST(DeviceConvolutionTest, OnlyWhatIsReadIsDescribed) {
  RematConvolution how = makeConvolution(/*channelsLast=*/true);
  how.outputSizes[0] = how.outputSizes[1] = 3;
  pack(how.outputStrides, {2, 5, 3, 3}, {0, 2, 3, 1});
  EXPECT_EQ(getForm(how).input.sizes[2], 5);
  // Less than a stride behind it changes nothing, and the input is packed.
  how.strides[0] = how.strides[1] = 2;
  DeviceConvolution form = getForm(how);
  EXPECT_EQ(form.input.sizes[2], 8);
  EXPECT_TRUE(form.channelsLast);
}

TEST(DeviceConvolutionTest, OneDimension) {
  RematConvolution how = makeConvolution(/*channelsLast=*/false);
  how.rank = 1;
  how.inputSizes[1] = how.windowSizes[1] = how.outputSizes[1] = 1;
  pack(how.inputStrides, {2, 4, 8}, {0, 1, 2});
  pack(how.filterStrides, {1, 5, 4, 3}, {0, 1, 2, 3});
  pack(how.outputStrides, {2, 5, 6}, {0, 1, 2});
  DeviceConvolution form = getForm(how);
  EXPECT_EQ(form.input.numDimensions, 4);
  EXPECT_EQ(form.input.sizes[2], 1);
  EXPECT_EQ(form.input.sizes[3], 8);
  EXPECT_EQ(form.numPieces, 0);
}

TEST(DeviceConvolutionTest, WhatIsNotTaken) {
  auto isTaken = [](auto change) {
    RematConvolution how = makeConvolution(/*channelsLast=*/false);
    change(how);
    return getDeviceConvolutionWorkspace(how) >= 0;
  };
  EXPECT_TRUE(isTaken([](RematConvolution &how) {}));
  EXPECT_TRUE(
      isTaken([](RematConvolution &how) { how.inputType = how.filterType = RematElement::TF32; }));
  EXPECT_FALSE(isTaken([](RematConvolution &how) { how.filterType = RematElement::F16; }));
  EXPECT_FALSE(isTaken([](RematConvolution &how) { how.outputType = RematElement::BF16; }));
  EXPECT_FALSE(isTaken([](RematConvolution &how) {
    how.inputType = how.filterType = how.outputType = RematElement::I1;
  }));
  // Elements at the same place, backwards, and too far apart.
  EXPECT_FALSE(isTaken([](RematConvolution &how) { how.outputStrides[1] = 1; }));
  EXPECT_FALSE(isTaken([](RematConvolution &how) { how.inputStrides[2] = -8; }));
  EXPECT_FALSE(isTaken([](RematConvolution &how) { how.inputStrides[0] = INT32_MAX; }));
}

TEST(DeviceConvolutionTest, Workspace) {
  RematConvolution how = makeConvolution(/*channelsLast=*/false);
  // 512 elements of the input, 180 of the filter, 360 of the output.
  EXPECT_EQ(getDeviceConvolutionWorkspace(how), 4352);
  how.batch = 0;
  EXPECT_EQ(getDeviceConvolutionWorkspace(how), 0);
  how.batch = 100000;
  EXPECT_EQ(getDeviceConvolutionWorkspace(how), 32 << 20);
}

} // namespace
