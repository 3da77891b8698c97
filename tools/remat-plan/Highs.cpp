//===- Highs.cpp - Linear programs through HiGHS ----------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The library is opened at run time, so that neither a build nor a use without it needs
// it. Its C interface is the same in all versions since 1.3.
//
//===----------------------------------------------------------------------===//

#include "Highs.h"
#include "Remat/Support/Error.h"
#include "llvm/Support/DynamicLibrary.h"

using namespace llvm;
using namespace mlir::remat;
using namespace mlir::remat::planner;

namespace {
/// Integers of the usual build; checked below.
using HighsInt = int32_t;

/// Limits on the iterations of one program, so that the answer does not depend on a
/// clock.
constexpr HighsInt kMaxSimplexIterations = 100'000, kMaxInteriorIterations = 200;

struct Highs {
  void *(*create)();
  void (*destroy)(void *);
  HighsInt (*getSizeofInt)(const void *);
  HighsInt (*setBoolOption)(void *, const char *, HighsInt);
  HighsInt (*setIntOption)(void *, const char *, HighsInt);
  HighsInt (*passLp)(void *, HighsInt, HighsInt, HighsInt, HighsInt, HighsInt, double,
                     const double *, const double *, const double *, const double *, const double *,
                     const HighsInt *, const HighsInt *, const double *);
  HighsInt (*run)(void *);
  HighsInt (*getSolution)(const void *, double *, double *, double *, double *);

  /// The name of a function that is missing; nothing if none is.
  std::string load(sys::DynamicLibrary library) {
    std::string missing;
    auto find = [&](auto &function, const char *name) {
      void *address = library.getAddressOfSymbol(name);
      if (!address && missing.empty())
        missing = name;
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(address);
    };
    find(create, "Highs_create");
    find(destroy, "Highs_destroy");
    find(getSizeofInt, "Highs_getSizeofHighsInt");
    find(setBoolOption, "Highs_setBoolOptionValue");
    find(setIntOption, "Highs_setIntOptionValue");
    find(passLp, "Highs_passLp");
    find(run, "Highs_run");
    find(getSolution, "Highs_getSolution");
    return missing;
  }

  std::vector<double> solve(const LinearProgram &program) const {
    constexpr HighsInt kByColumns = 1, kMinimize = 1, kSuccess = 0;
    std::unique_ptr<void, void (*)(void *)> model(create(), destroy);
    int64_t numColumns = program.getNumColumns(), numRows = program.getNumRows();
    if (!model || program.rows.size() > size_t(std::numeric_limits<HighsInt>::max()))
      return {};
    std::vector<HighsInt> starts(program.starts.begin(), program.starts.end());
    std::vector<HighsInt> rows(program.rows.begin(), program.rows.end());
    std::vector<double> lower(numColumns, 0);
    std::vector<double> upper(numColumns, std::numeric_limits<double>::infinity());
    setBoolOption(model.get(), "output_flag", false);
    setIntOption(model.get(), "threads", 1);
    setIntOption(model.get(), "simplex_iteration_limit", kMaxSimplexIterations);
    setIntOption(model.get(), "ipm_iteration_limit", kMaxInteriorIterations);
    if (passLp(model.get(), numColumns, numRows, rows.size(), kByColumns, kMinimize, /*offset=*/0,
               program.costs.data(), lower.data(), upper.data(), program.rowLower.data(),
               program.rowUpper.data(), starts.data(), rows.data(),
               program.coefficients.data()) != kSuccess)
      return {};
    // A limit that was reached is no failure: the prices are valid all the same.
    run(model.get());
    std::vector<double> values(numColumns), reducedCosts(numColumns), activities(numRows),
        duals(numRows);
    if (getSolution(model.get(), values.data(), reducedCosts.data(), activities.data(),
                    duals.data()) != kSuccess)
      return {};
    return duals;
  }
};
} // namespace

Expected<LinearProgramSolver> loadHighs(const std::string &path) {
  std::string reason;
  sys::DynamicLibrary library = sys::DynamicLibrary::getPermanentLibrary(path.c_str(), &reason);
  if (!library.isValid())
    return makeError("cannot open '{0}', the library of HiGHS: {1}", path, reason);
  Highs highs;
  if (std::string missing = highs.load(library); !missing.empty())
    return makeError("'{0}' is not the library of HiGHS: it has no '{1}'", path, missing);
  std::unique_ptr<void, void (*)(void *)> model(highs.create(), highs.destroy);
  if (highs.getSizeofInt(model.get()) != sizeof(HighsInt))
    return makeError("'{0}' is built with integers of {1} bytes instead of {2}", path,
                     highs.getSizeofInt(model.get()), sizeof(HighsInt));
  return LinearProgramSolver(
      [highs](const LinearProgram &program) { return highs.solve(program); });
}
