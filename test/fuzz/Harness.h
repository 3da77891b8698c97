//===- Harness.h - Runs the passes on modules -------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything that touches contexts, pass managers, diagnostics and files.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TEST_FUZZ_HARNESS_H
#define REMAT_TEST_FUZZ_HARNESS_H

#include "Random.h"
#include "Remat/Interfaces/ModelTable.h"
#include "Remat/Transforms/Rematerialize.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/JSON.h"
#include <memory>
#include <vector>

namespace mlir::remat::fuzz {

/// Options of the pass, beside the budget.
struct PassOptions {
  std::string fusion = "none", scope = "total", target = "h100", minBytes = "auto";
  bool reorder = true;
  int64_t alignment = 64;
  /// Of the search for plans.
  int64_t effort = 0;

  static PassOptions any(Random &random, StringRef fusion);
  std::string text() const;
  /// Whether XLA decides what gets memory.
  bool isForXLA() const { return fusion == "xla"; }
};

struct Message {
  bool isError;
  std::string text;
  std::vector<std::string> notes;
};

/// What a run of the pass left behind.
struct Outcome {
  bool succeeded = false;
  std::vector<Message> messages;
  OwningOpRef<ModuleOp> module;
  /// The module afterwards, and the report.
  std::string text, reportText;
  llvm::json::Value report = nullptr;

  int64_t countErrors() const;
  /// The report of a function.
  const llvm::json::Object *find(StringRef function) const;
};

class Harness {
public:
  /// With `liesAboutViews`, the pass reads a models file that is wrong.
  explicit Harness(bool liesAboutViews = false);
  ~Harness();
  Harness(const Harness &) = delete;

  /// Parses a module that is expected to verify; null otherwise, with the errors
  /// on standard error. There are two contexts, 0 and 1.
  OwningOpRef<ModuleOp> parse(StringRef text, unsigned context = 0);

  /// Runs --rematerialize on a copy of `module`.
  Outcome rematerialize(ModuleOp module, const PassOptions &options, StringRef budget,
                        StringRef onInfeasible = "error");

  /// Runs passes on the module in place. False, with the errors in `errors`, if it fails.
  bool run(ModuleOp module, StringRef pipeline, std::string *errors = nullptr);

  /// Options for the library's functions that mean the same.
  RematerializeOptions getLibraryOptions(const PassOptions &options) const;

  /// A new scratch file's path; it is removed at the end.
  std::string makeFile(StringRef contents);

  /// Throws away what contexts accumulate.
  void renewContexts();

private:
  std::unique_ptr<MLIRContext> contexts[2];
  std::vector<std::string> files;
  std::string modelsPath, reportPath;
  ModelTable models;
};

/// As `remat-opt` prints it.
std::string print(Operation *op);

} // namespace mlir::remat::fuzz

#endif // REMAT_TEST_FUZZ_HARNESS_H
