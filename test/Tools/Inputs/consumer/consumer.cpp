//===- consumer.cpp - Rematerialization from somebody else's program --------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   consumer FILE BUDGET
//
// Rewrites every function in FILE within BUDGET, prints the module and, on
// standard error, the packed peaks.
//
//===----------------------------------------------------------------------===//

#include "Remat/Dialect/IR/RematDialect.h"
#include "Remat/ExternalModels/Register.h"
#include "Remat/Transforms/Rematerialize.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

static int fail(llvm::Error error) {
  llvm::errs() << toString(std::move(error)) << '\n';
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 3)
    return fail(llvm::createStringError("usage: consumer FILE BUDGET"));

  remat::RematerializeOptions options;
  llvm::Expected<remat::Budget> budget = remat::parseBudget(argv[2]);
  llvm::Expected<remat::Target> target = remat::Target::get("h100");
  if (!budget || !target)
    return fail(joinErrors(budget.takeError(), target.takeError()));
  options.budget = *budget;
  options.target = *target;

  DialectRegistry registry;
  registerAllDialects(registry);
  registry.insert<remat::RematDialect>();
  remat::registerAllExternalModels(registry);
  MLIRContext context(registry);
  context.loadDialect<remat::RematDialect>();
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(argv[1], &context);
  if (!module)
    return 1;

  for (auto function : module->getOps<FunctionOpInterface>()) {
    FailureOr<remat::FunctionReport> report = remat::rematerialize(function, options);
    if (failed(report))
      return 1;
    llvm::errs() << report->name << ": " << report->baselinePackedBytes << " -> "
                 << report->packedBytes << " bytes\n";
  }
  llvm::outs() << *module << '\n';
  return 0;
}
