//===- DeviceInterface.h - What compiled kernels use ----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Variables and functions of the emulator that the code of kernels refers to by name. They
// describe the one thread of the one kernel that runs at a time.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_EMULATORRUNTIME_DEVICEINTERFACE_H
#define REMAT_LIB_EMULATORRUNTIME_DEVICEINTERFACE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <array>
#include <cstdint>

namespace mlir::remat::emulator {

constexpr uint32_t kWarpSize = 32;
using Extent = std::array<uint32_t, 3>;

/// What the special registers of a thread say. Kernels see an array of integers.
struct ThreadRegisters {
  Extent thread, blockSize, block, gridSize;
  uint32_t lane, warp;
};

/// Operations that threads execute together.
enum class Collective : uint32_t {
  // Of a block; `group` is the barrier, `count` the number of threads, or 0 for all.
  Barrier,
  BarrierAnd,
  BarrierOr,
  BarrierCount,
  // Of the lanes of a warp that the mask `group` says.
  WarpBarrier,
  ShuffleUp,
  ShuffleDown,
  ShuffleButterfly,
  ShuffleIndex,
  VoteAll,
  VoteAny,
  VoteUniform,
  Ballot,
  Match,
  ReduceAdd,
  ReduceMin,
  ReduceMax,
  ReduceUnsignedMin,
  ReduceUnsignedMax,
  ReduceAnd,
  ReduceOr,
  ReduceXor,
  // Of the lanes of a warp that happen to come together.
  ActiveMask,
};

/// What one thread brings to a collective operation.
struct CollectiveCall {
  Collective operation;
  /// The place in the code, counted in the module.
  uint32_t site;
  /// Barrier or mask.
  uint32_t group;
  uint32_t value;
  /// Of barriers: the number of threads. Of shuffles: the lane or the distance.
  uint32_t operand;
  /// Of shuffles: the last lane, and the mask of the segment in bits 8 to 12.
  uint32_t clamp;
};

/// How memory is accessed, as bits: reads have none.
constexpr uint32_t kRead = 0, kWrite = 1, kShared = 2;

/// Names and addresses of what the code of kernels uses.
namespace symbols {
constexpr llvm::StringLiteral kRegisters = "remat.registers";
/// i64 (i32 operation, i32 site, i32 group, i32 value, i32 operand, i32 clamp): the result in
/// the lower half, a predicate in the upper one.
constexpr llvm::StringLiteral kCollective = "remat.collective";
/// void (i64 address, i64 bytes, i32 kind, i64 alignment, ptr range)
constexpr llvm::StringLiteral kCheckAccess = "remat.check.access";
/// void (i64 address, i64 bytes, i32 kind)
constexpr llvm::StringLiteral kCountAccess = "remat.count.access";
/// double (double, double, double): a * b + c, where a * b is exact, rounded to odd.
constexpr llvm::StringLiteral kFusedToOdd = "remat.fma.to.odd";
/// i32 (i32, i32, i32): the instruction prmt.
constexpr llvm::StringLiteral kPermuteBytes = "remat.permute.bytes";
/// void (ptr message, ptr file, i32 line, ptr function, i64 size of a character)
constexpr llvm::StringLiteral kAssertFail = "__assertfail";
/// void ()
constexpr llvm::StringLiteral kTrap = "remat.trap";
} // namespace symbols

struct DeviceSymbol {
  llvm::StringRef name;
  void *address;
};
/// All of the above, and functions that LLVM calls for conversions.
llvm::ArrayRef<DeviceSymbol> getDeviceSymbols();

} // namespace mlir::remat::emulator

#endif // REMAT_LIB_EMULATORRUNTIME_DEVICEINTERFACE_H
