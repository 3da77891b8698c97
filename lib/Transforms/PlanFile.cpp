//===- PlanFile.cpp - Plans of functions as a file --------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes and reads the file, and recognises problems by a hash of their text.
//
//===----------------------------------------------------------------------===//

#include "Remat/Transforms/PlanFile.h"
#include "Remat/Planner/Serialization.h"
#include "Remat/Support/Error.h"
#include "Remat/Support/JSON.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

using namespace mlir::remat;
using llvm::StringRef;

static constexpr int64_t kVersion = 1;

static std::string identify(const planner::Problem &problem) {
  std::string text;
  llvm::raw_string_ostream os(text);
  planner::writeJSON(problem, os);
  return llvm::utohexstr(llvm::xxh3_64bits(text), /*LowerCase=*/true, /*Width=*/16);
}

void PlanFile::add(StringRef function, const planner::Problem &problem, const planner::Plan &plan) {
  names.push_back(function.str());
  entries[function] = {static_cast<int64_t>(problem.operations.size()), identify(problem),
                       llvm::formatv("{0}", planner::toJSON(plan)).str()};
}

void PlanFile::print(llvm::raw_ostream &os) const {
  os << "{\"version\": " << kVersion << ", \"functions\": [";
  llvm::ListSeparator separator(",");
  for (const std::string &name : names) {
    const Entry &entry = entries.find(name)->second;
    os << separator << "\n"
       << llvm::formatv("{{\"name\": {0}, ", llvm::json::Value(name))
       << llvm::formatv("\"operations\": {0}, \"problem\": \"{1}\",\n \"plan\": {2}}",
                        entry.numOperations, entry.problem, entry.plan);
  }
  os << "]}\n";
}

llvm::Expected<PlanFile> PlanFile::read(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    return makeError("cannot read the plan file '{0}': {1}", path, buffer.getError().message());
  llvm::Expected<llvm::json::Value> root = parseJSON((*buffer)->getBuffer());
  if (!root)
    return makeError("the plan file '{0}': {1}", path, llvm::toString(root.takeError()));
  const llvm::json::Object *object = root->getAsObject();
  const llvm::json::Array *functions = object ? object->getArray("functions") : nullptr;
  if (!functions || object->getInteger("version") != kVersion)
    return makeError("the plan file '{0}': expected an object with \"version\": {1} and an array "
                     "\"functions\"",
                     path, kVersion);
  PlanFile file;
  for (auto [index, element] : llvm::enumerate(*functions)) {
    const llvm::json::Object *function = element.getAsObject();
    auto name = function ? function->getString("name") : std::nullopt;
    auto problem = function ? function->getString("problem") : std::nullopt;
    auto numOperations = function ? function->getInteger("operations") : std::nullopt;
    const llvm::json::Value *plan = function ? function->get("plan") : nullptr;
    if (!name || !problem || !numOperations || !plan)
      return makeError("the plan file '{0}': functions[{1}]: expected \"name\", \"problem\", "
                       "\"operations\" and \"plan\"",
                       path, index);
    if (!file.entries
             .try_emplace(*name,
                          Entry{*numOperations, problem->str(), llvm::formatv("{0}", *plan).str()})
             .second)
      return makeError("the plan file '{0}': functions[{1}]: a second plan for '{2}'", path, index,
                       *name);
    file.names.push_back(name->str());
  }
  return file;
}

llvm::Expected<planner::Plan> PlanFile::get(StringRef function,
                                            const planner::Problem &problem) const {
  auto it = entries.find(function);
  if (it == entries.end())
    return makeError("the plan file has no plan for function '{0}'", function);
  const Entry &entry = it->second;
  std::string own = identify(problem);
  if (entry.problem != own)
    return makeError("the plan for function '{0}' was made for another program, or with other "
                     "options: it had {1} operations and the problem {2}, here are {3} operations "
                     "and the problem {4}",
                     function, entry.numOperations, entry.problem, problem.operations.size(), own);
  llvm::Expected<planner::Plan> plan = planner::parsePlan(entry.plan, problem);
  if (!plan)
    return makeError("the plan for function '{0}': {1}", function,
                     llvm::toString(plan.takeError()));
  return plan;
}
