//===- MemoryProfileTest.cpp - Profiles of plans ----------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Analysis/MemoryProfile.h"

#include "AnalysisTest.h"
#include "mlir/IR/Builders.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::remat;
using mlir::remat::test::TestFunction;

/// The rows of the live values, workspace, alignment and fragmentation.
static int64_t sumRows(const MemoryProfile &profile) {
  int64_t sum = profile.workspaceBytes + profile.alignmentBytes + profile.fragmentationBytes;
  for (const LiveStorage &row : profile.live)
    sum += row.bytes;
  return sum;
}

static constexpr StringRef chain = R"mlir(
func.func @chain(%x: tensor<1000xf32>) -> tensor<1000xf32> {
  %a = math.exp %x : tensor<1000xf32>
  %b = math.exp %a : tensor<1000xf32>
  %c = math.exp %b : tensor<1000xf32>
  %d = arith.addf %c, %a : tensor<1000xf32>
  return %d : tensor<1000xf32>
})mlir";

// The first exponential is executed again before the sum: at the sum the
// argument, the clone, %c and the sum are live.
TEST(MemoryProfileTest, PlanWithClone) {
  TestFunction test(chain);
  planner::Plan plan = planner::identityPlan(test.problem.problem);
  planner::Step clone = plan.steps[0];
  clone.isClone = true;
  plan.steps.insert(plan.steps.begin() + 3, clone);
  plan.steps[4].reads = {2, 3};
  plan.steps[5].reads = {4};
  planner::assignRegions(test.problem.problem, plan);
  ASSERT_EQ(llvm::toString(planner::verify(test.problem.problem, plan)), "");

  planner::Solution solution = planner::evaluate(test.problem.problem, plan);
  MemoryProfile profile =
      computeMemoryProfile(test.function, test.problem, inferRoles(test.problem, {}), solution,
                           Scope::Total, /*numColumns=*/6);
  EXPECT_EQ(profile.numSteps, 6);
  EXPECT_EQ(profile.livePeakBytes, 16000);
  EXPECT_EQ(profile.packedPeakBytes, 16128);
  EXPECT_EQ(profile.alignmentBytes, 128);
  EXPECT_EQ(profile.fragmentationBytes, 0);
  EXPECT_EQ(sumRows(profile), profile.packedPeakBytes);
  EXPECT_EQ(profile.peakStep, 4);
  EXPECT_EQ(profile.peak.index, 3);
  EXPECT_EQ(profile.peak.name, "arith.addf");

  std::string names;
  for (const LiveStorage &row : profile.live)
    names += row.value + ":" + row.producer + " ";
  EXPECT_EQ(names, "%arg0:argument %2:math.exp %0:math.exp %3:arith.addf ");

  std::vector<int64_t> bytes;
  for (const ProfileColumn &column : profile.timeline)
    bytes.push_back(column.bytes);
  EXPECT_EQ(bytes, (std::vector<int64_t>{8000, 12000, 12000, 12000, 16000, 8000}));
}

// Five operations, live 8000, 12000, 16000, 16000 and 8000 bytes.
TEST(MemoryProfileTest, TimelineKeepsMaxima) {
  TestFunction test(chain);
  planner::Solution solution =
      planner::evaluate(test.problem.problem, planner::identityPlan(test.problem.problem));
  auto getTimeline = [&](int64_t numColumns) {
    std::string text;
    for (const ProfileColumn &column :
         computeMemoryProfile(test.function, test.problem, inferRoles(test.problem, {}), solution,
                              Scope::Total, numColumns)
             .timeline)
      text += "[" + std::to_string(column.begin) + "," + std::to_string(column.end) + ") " +
              std::to_string(column.bytes) + " ";
    return text;
  };
  EXPECT_EQ(getTimeline(1), "[0,5) 16000 ");
  EXPECT_EQ(getTimeline(2), "[0,2) 12000 [2,5) 16000 ");
  EXPECT_EQ(getTimeline(5), "[0,1) 8000 [1,2) 12000 [2,3) 16000 [3,4) 16000 [4,5) 8000 ");
  EXPECT_EQ(getTimeline(6), getTimeline(5));
}

TEST(MemoryProfileTest, Locations) {
  MLIRContext context;
  Builder builder(&context);
  Location file = FileLineColLoc::get(&context, "a/b.py", 3, 4);
  Location unknown = builder.getUnknownLoc();
  Location named = NameLoc::get(builder.getStringAttr("layer"), file);
  EXPECT_EQ(formatLocation(unknown), "");
  EXPECT_EQ(formatLocation(file), "a/b.py:3:4");
  EXPECT_EQ(formatLocation(named), "layer (a/b.py:3:4)");
  EXPECT_EQ(formatLocation(NameLoc::get(builder.getStringAttr("layer"))), "layer");
  EXPECT_EQ(formatLocation(NameLoc::get(builder.getStringAttr("outer"), named)),
            "outer (a/b.py:3:4)");
  EXPECT_EQ(formatLocation(FusedLoc::get(&context, {unknown, named})), "layer (a/b.py:3:4)");
  EXPECT_EQ(
      formatLocation(FusedLoc::get({file}, StringAttr::get(&context, "rematerialized"), &context)),
      "a/b.py:3:4");
  EXPECT_EQ(formatLocation(CallSiteLoc::get(named, file)), "layer (a/b.py:3:4)");
}
