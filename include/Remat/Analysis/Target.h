//===- Target.h - Rates of the machine that will run the code ---------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_ANALYSIS_TARGET_H
#define REMAT_ANALYSIS_TARGET_H

#include "mlir/IR/Types.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>

namespace mlir::remat {

/// Effective rates, for costs in picoseconds:
///   cost = max(flops / rate of the element type, bytes / bandwidth) + launch.
struct Target {
  std::string name;
  /// Operations per second by element type: f64 and wider, f32 and all integers
  /// and other types, floats of 16 and fewer bits.
  int64_t flopsF64;
  int64_t flopsF32;
  int64_t flopsF16;
  /// Bytes per second.
  int64_t bandwidth;
  /// Picoseconds of every operation beside those of its work.
  int64_t launch;

  /// The preset `h100`, `a100` or `cpu`, or the JSON file at that path with the
  /// keys `name`, `flops_f64`, `flops_f32`, `flops_f16`, `bandwidth` (all above
  /// 0, per second) and `launch_ps` (at most 2^53).
  static llvm::Expected<Target> get(StringRef nameOrPath);

  /// Picoseconds of one execution, saturating at 2^53. What computes and moves
  /// nothing (a view, a constant) is not launched and costs nothing.
  int64_t getCost(int64_t flops, Type flopsType, int64_t bytes) const;
};

/// The sum and product of costs, saturating at 2^53 picoseconds (two and a half hours), so
/// that no sum over a function overflows.
int64_t addCosts(int64_t a, int64_t b);
int64_t multiplyCosts(int64_t a, int64_t b);

} // namespace mlir::remat

#endif // REMAT_ANALYSIS_TARGET_H
