//===- TargetTest.cpp - Rates of the machine that will run the code ---------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Analysis/Target.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::remat;

static constexpr int64_t kMaxCost = int64_t(1) << 53;

namespace {
class TargetTest : public testing::Test {
protected:
  static Target get(StringRef name) {
    llvm::Expected<Target> target = Target::get(name);
    if (target)
      return *target;
    ADD_FAILURE() << toString(target.takeError());
    return {};
  }

  /// The error about a target file with this text, without its path; empty if
  /// there is none.
  static std::string fileError(StringRef text) {
    SmallString<64> path;
    EXPECT_FALSE(llvm::sys::fs::createTemporaryFile("target", "json", path));
    llvm::FileRemover remover(path);
    std::error_code error;
    llvm::raw_fd_ostream(path, error) << text;
    EXPECT_FALSE(error);
    llvm::Expected<Target> target = Target::get(path);
    if (target)
      return "";
    std::string message = toString(target.takeError());
    std::string prefix = "target file '" + path.str().str() + "': ";
    EXPECT_EQ(message.substr(0, prefix.size()), prefix);
    return message.substr(prefix.size());
  }

  MLIRContext context;
  Builder builder{&context};
};
} // namespace

TEST_F(TargetTest, PresetsAreFrozen) {
  constexpr int64_t giga = 1000 * 1000 * 1000, tera = 1000 * giga;
  Target h100 = get("h100"), a100 = get("a100"), cpu = get("cpu");
  EXPECT_EQ(h100.flopsF64, 30 * tera);
  EXPECT_EQ(h100.flopsF32, 60 * tera);
  EXPECT_EQ(h100.flopsF16, 800 * tera);
  EXPECT_EQ(h100.bandwidth, 3 * tera);
  EXPECT_EQ(a100.flopsF64, 9 * tera);
  EXPECT_EQ(a100.flopsF32, 18 * tera);
  EXPECT_EQ(a100.flopsF16, 280 * tera);
  EXPECT_EQ(a100.bandwidth, 1700 * giga);
  EXPECT_EQ(cpu.flopsF64, 50 * giga);
  EXPECT_EQ(cpu.flopsF32, 100 * giga);
  EXPECT_EQ(cpu.flopsF16, 100 * giga);
  EXPECT_EQ(cpu.bandwidth, 20 * giga);
  for (const Target &target : {h100, a100, cpu})
    EXPECT_EQ(target.launch, 0);
  EXPECT_EQ(cpu.name, "cpu");
}

TEST_F(TargetTest, CostIsTheLargerOfArithmeticAndTraffic) {
  Target h100 = get("h100");
  Type f32 = builder.getF32Type();
  // 60e12 operations and 3e12 bytes take a second each.
  EXPECT_EQ(h100.getCost(60000000, f32, 0), 1000000);
  EXPECT_EQ(h100.getCost(0, f32, 3000000), 1000000);
  EXPECT_EQ(h100.getCost(60000000, f32, 6000000), 2000000);
  EXPECT_EQ(h100.getCost(0, f32, 0), 0);
}

TEST_F(TargetTest, CostRoundsUp) {
  EXPECT_EQ(get("h100").getCost(0, {}, 1), 1);
  EXPECT_EQ(get("h100").getCost(0, {}, 4), 2);
  EXPECT_EQ(get("cpu").getCost(1, {}, 0), 10);
}

TEST_F(TargetTest, RateDependsOnTheElementType) {
  Target h100 = get("h100");
  constexpr int64_t flops = 2400000000;
  EXPECT_EQ(h100.getCost(flops, builder.getF64Type(), 0), 80000000);
  EXPECT_EQ(h100.getCost(flops, builder.getF32Type(), 0), 40000000);
  EXPECT_EQ(h100.getCost(flops, builder.getBF16Type(), 0), 3000000);
  EXPECT_EQ(h100.getCost(flops, builder.getF16Type(), 0), 3000000);
  EXPECT_EQ(h100.getCost(flops, Float8E4M3FNType::get(&context), 0), 3000000);
  EXPECT_EQ(h100.getCost(flops, ComplexType::get(builder.getF64Type()), 0), 80000000);
  // Integers, and what has no arithmetic type, run at the rate of f32.
  EXPECT_EQ(h100.getCost(flops, builder.getI64Type(), 0), 40000000);
  EXPECT_EQ(h100.getCost(flops, {}, 0), 40000000);
}

TEST_F(TargetTest, LaunchTimeIsAdded) {
  Target target = get("h100");
  target.launch = 5000;
  EXPECT_EQ(target.getCost(1, {}, 0), 5001);
  EXPECT_EQ(target.getCost(0, {}, 0), 0);
  EXPECT_EQ(target.getCost(0, {}, 3000000), 1005000);
}

TEST_F(TargetTest, CostsSaturate) {
  int64_t max = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(get("cpu").getCost(max, {}, max), kMaxCost);
  EXPECT_EQ(addCosts(kMaxCost - 1, 2), kMaxCost);
  EXPECT_EQ(addCosts(3, 4), 7);
  EXPECT_EQ(multiplyCosts(kMaxCost, kMaxCost), kMaxCost);
  EXPECT_EQ(multiplyCosts(3, 4), 12);
}

static constexpr StringLiteral kGoodFile =
    R"({"name": "toy", "flops_f64": 1, "flops_f32": 2, "flops_f16": 3, "bandwidth": 4, "launch_ps": 0})";

TEST_F(TargetTest, FilesAreRead) {
  SmallString<64> path;
  ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("target", "json", path));
  llvm::FileRemover remover(path);
  std::error_code error;
  llvm::raw_fd_ostream(path, error) << kGoodFile;
  ASSERT_FALSE(error);
  Target target = get(path);
  EXPECT_EQ(target.name, "toy");
  EXPECT_EQ(target.flopsF64, 1);
  EXPECT_EQ(target.flopsF32, 2);
  EXPECT_EQ(target.flopsF16, 3);
  EXPECT_EQ(target.bandwidth, 4);
  EXPECT_EQ(target.launch, 0);
}

TEST_F(TargetTest, EveryKeyIsChecked) {
  auto change = [](StringRef from, StringRef to) {
    auto [before, after] = kGoodFile.split(from);
    return (before + to + after).str();
  };
  EXPECT_EQ(fileError(kGoodFile), "");
  EXPECT_EQ(fileError("[]"), "expected a JSON object");
  EXPECT_EQ(fileError(change("\"name\": \"toy\", ", "")), "expected the key 'name' with a string");
  EXPECT_EQ(fileError(change("\"toy\"", "1")), "expected the key 'name' with a string");
  EXPECT_EQ(fileError(change("\"flops_f64\": 1", "\"flops_f64\": 0")),
            "expected the key 'flops_f64' with an integer of at least 1");
  EXPECT_EQ(fileError(change("\"flops_f32\": 2", "\"flops_f32\": 2.5")),
            "expected the key 'flops_f32' with an integer of at least 1");
  EXPECT_EQ(fileError(change("\"flops_f16\": 3, ", "")),
            "expected the key 'flops_f16' with an integer of at least 1");
  EXPECT_EQ(fileError(change("\"bandwidth\": 4", "\"bandwidth\": -4")),
            "expected the key 'bandwidth' with an integer of at least 1");
  EXPECT_EQ(fileError(change("\"launch_ps\": 0", "\"launch_ps\": -1")),
            "expected the key 'launch_ps' with an integer of at least 0");
  EXPECT_EQ(fileError(change("\"launch_ps\": 0", "\"launch_ps\": 9007199254740993")),
            "expected the key 'launch_ps' with an integer of at most 9007199254740992");
  EXPECT_EQ(fileError(change("\"name\"", "\"nmae\": 1, \"name\"")), "unknown key 'nmae'");
}

TEST_F(TargetTest, UnknownNamesAreErrors) {
  llvm::Expected<Target> target = Target::get("h200");
  ASSERT_FALSE(target);
  EXPECT_EQ(toString(target.takeError()),
            "unknown target 'h200': expected h100, a100, cpu or a file, but reading it as a file "
            "failed: No such file or directory");
}
