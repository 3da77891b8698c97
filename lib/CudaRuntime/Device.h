//===- Device.h - The GPU ---------------------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first device that the driver shows, its primary context, which libraries of the same
// process share, and one stream in it.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_CUDARUNTIME_DEVICE_H
#define REMAT_LIB_CUDARUNTIME_DEVICE_H

#include "Libraries.h"

namespace mlir::remat::cuda {

/// Lives until the process ends.
struct Device {
  DriverFunctions driver;
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  /// Whether each launch and call is waited for.
  bool synchronizes = false;

  /// The name of an error and what it means.
  std::string describe(CUresult result) const;
  /// Keeps the error if there is one: "WHAT: NAME (TEXT)". Returns whether there is none.
  bool check(CUresult result, const std::string &what) const;
  /// Waits for what was launched or called, if that is asked for. Errors are those of `what`.
  void finish(const std::string &what) const;
};

/// Opens the device if it is not open yet. Returns what is wrong, or an empty text.
const std::string &openDevice();

/// The device, its context the current one of this thread. Null if an error was not taken yet,
/// or if there is one now.
const Device *enterDevice();

} // namespace mlir::remat::cuda

#endif // REMAT_LIB_CUDARUNTIME_DEVICE_H
