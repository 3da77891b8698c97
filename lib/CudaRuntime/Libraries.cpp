//===- Libraries.cpp - Functions of NVIDIA's libraries ----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Libraries.h"

#include <dlfcn.h>
#include <vector>

using namespace mlir::remat::cuda;

namespace {
/// A function, and where its address goes.
struct Symbol {
  const char *name;
  void **address;
};
} // namespace

/// The message of the loader begins with the name of a library that it does not find.
static std::string describeMissing(const std::string &library) {
  std::string reason = dlerror();
  std::string prefix = library + ": ";
  if (reason.compare(0, prefix.size(), prefix) == 0)
    reason.erase(0, prefix.size());
  return "cannot open " + library + ": " + reason;
}

/// Opens the first library that there is. What is said is about the first name.
static std::string openFirst(const std::vector<std::string> &libraries,
                             const std::vector<Symbol> &symbols) {
  void *handle = nullptr;
  std::string missing, opened;
  for (const std::string &library : libraries) {
    handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    opened = library;
    if (handle)
      break;
    std::string reason = describeMissing(library);
    if (missing.empty())
      missing = reason;
  }
  if (!handle)
    return missing;
  for (const Symbol &symbol : symbols) {
    *symbol.address = dlsym(handle, symbol.name);
    if (!*symbol.address)
      return opened + " has no function '" + symbol.name + "'; it is too old";
  }
  return "";
}

#define REMAT_SYMBOL(NAME) {#NAME, reinterpret_cast<void **>(&functions.NAME)},

std::string mlir::remat::cuda::openLibrary(DriverFunctions &functions) {
  return openFirst({"libcuda.so.1"}, {REMAT_DRIVER_FUNCTIONS(REMAT_SYMBOL)});
}

std::string mlir::remat::cuda::openLibrary(BlasFunctions &functions) {
  return openFirst({"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"},
                   {REMAT_BLAS_FUNCTIONS(REMAT_SYMBOL)});
}

std::string mlir::remat::cuda::openLibrary(DnnFunctions &functions) {
  return openFirst({"libcudnn.so.9"}, {REMAT_DNN_FUNCTIONS(REMAT_SYMBOL)});
}
