//===- Categories.h - What the values of a training step are for ------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sorts values for reports: parameters, optimizer state, inputs, gradients,
// activations, temporaries. Never influences a plan.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_ANALYSIS_CATEGORIES_H
#define REMAT_ANALYSIS_CATEGORIES_H

#include "Remat/Analysis/FunctionProblem.h"

namespace mlir::remat {

enum class Category {
  Parameter,
  OptimizerState,
  Input,
  Gradient,
  Activation,
  Temporary,
  Constant,
};

/// All categories, in the order in which reports list them.
ArrayRef<Category> getAllCategories();

/// `parameters`, `optimizer_state`, ... as in reports.
StringRef getCategoryName(Category category);

/// Whether values of this category last from one training step to the next.
inline bool isState(Category category) {
  return category == Category::Parameter || category == Category::OptimizerState;
}

/// What a user says about a function; everything else is inferred.
struct RoleOptions {
  /// Which result is the loss.
  std::optional<unsigned> lossResult;
  /// By argument: Parameter, OptimizerState or Input. Empty: inferred for all.
  SmallVector<Category> arguments;
};

/// What the values of a function are for.
///
/// A *small* value has one element. A value is *behind the loss* when it is
/// defined at or after the first loss point and the loss does not depend on it.
///
/// The **loss** is a small floating-point result that is computed from
/// something. Where there are several (metrics), those that are the new value
/// of a small argument (computed from it by small values alone) do not count
/// unless there are no others; of the rest, the one that depends on most
/// inputs (arguments whose type no result has); of those that depend on at
/// least half as many other arguments as the one that depends on most, the one
/// that is complete first. Of more than 64, the last 64 are looked at.
///
/// A **loss point** is an operation that the loss depends on through small
/// values alone and that reads something larger: usually the one reduction to
/// a mean, one per microbatch where a step is unrolled over several. Forward
/// ends and backward begins there.
///
/// **Arguments.** An argument that is returned is a parameter if it is of
/// floating-point type and the loss depends on it, and optimizer state
/// otherwise (moments, step counts, running statistics, states of random
/// generators); all others are inputs. A result returns the argument of its
/// type from which it is computed in the fewest operations, all on values of
/// that type; where no such path exists, the first argument of that type that
/// no result returns. The loss, and what it depends on, returns nothing.
///
/// **Other values.** The first of these that holds:
///   1. a constant's data is a constant;
///   2. what is returned for an argument has its category, but a returned
///      gradient (no path from the argument to it) is a gradient;
///   3. a gradient is behind the loss, has the shape of a parameter, depends on
///      the forward pass, leads to a returned parameter or state through values
///      of its shape, and does not depend on optimizer state that the loss does
///      not depend on and that is not small;
///   4. an activation is defined at or before a loss point and read after it,
///      by an operation that the loss does not depend on;
///   5. everything else is a temporary.
/// A view has the category of the value that it shows, and what reads a view
/// reads that value.
///
/// Without a loss every argument is an input unless the options say otherwise,
/// and there are no gradients and no activations.
struct ValueRoles {
  /// By planner::ValueIndex.
  std::vector<Category> categories;
  /// Which result is the loss.
  std::optional<unsigned> lossResult;
  /// The last loss point, if there is a loss.
  std::optional<planner::OpIndex> lossOperation;
  /// By result of the function: the argument whose new value it is, being computed from it.
  std::vector<std::optional<unsigned>> updatedArguments;
};

/// Takes time linear in the problem. A `lossResult` out of range or a list of
/// roles that is shorter than the list of arguments counts as not given.
ValueRoles inferRoles(const FunctionProblem &problem, const RoleOptions &options);

/// The categories alone.
std::vector<Category> categorize(const FunctionProblem &problem, const RoleOptions &options);

} // namespace mlir::remat

#endif // REMAT_ANALYSIS_CATEGORIES_H
