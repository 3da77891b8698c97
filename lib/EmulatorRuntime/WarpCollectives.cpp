//===- WarpCollectives.cpp - What lanes of a warp compute together --------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As the PTX ISA defines shfl.sync, vote.sync, match.sync and redux.sync.
//
//===----------------------------------------------------------------------===//

#include "Block.h"

#include <algorithm>
#include <functional>

using namespace mlir::remat::emulator;

/// What a lane gets that reads one that takes no part: undefined, so something noticeable.
constexpr uint32_t kUndefined = 0xffffffff;

static uint64_t shuffle(uint32_t lane, uint32_t lanes, llvm::ArrayRef<CollectiveCall> calls) {
  const CollectiveCall &call = calls[lane];
  int32_t distance = static_cast<int32_t>(call.operand & 31);
  uint32_t clamp = call.clamp & 31;
  uint32_t segment = call.clamp >> 8 & 31;
  auto own = static_cast<int32_t>(lane);
  auto first = static_cast<int32_t>(lane & segment);
  auto last = static_cast<int32_t>((lane & segment) | (clamp & ~segment));
  int32_t source = own;
  bool isInside = false;
  switch (call.operation) {
  case Collective::ShuffleUp:
    source = own - distance;
    isInside = source >= last;
    break;
  case Collective::ShuffleDown:
    source = own + distance;
    isInside = source <= last;
    break;
  case Collective::ShuffleButterfly:
    source = own ^ distance;
    isInside = source <= last;
    break;
  default:
    source = first | static_cast<int32_t>(call.operand & 31 & ~segment);
    isInside = source <= last;
    break;
  }
  if (!isInside)
    source = own;
  uint32_t value = lanes >> source & 1 ? calls[source].value : kUndefined;
  return uint64_t(isInside) << 32 | value;
}

template <typename Combine>
static uint32_t reduce(uint32_t lanes, llvm::ArrayRef<CollectiveCall> calls, Combine combine) {
  std::optional<uint32_t> result;
  for (uint32_t lane = 0; lane < kWarpSize; ++lane)
    if (lanes >> lane & 1)
      result = result ? combine(*result, calls[lane].value) : calls[lane].value;
  return result.value_or(0);
}

/// The lanes whose value is that one.
static uint32_t findEqual(uint32_t lanes, llvm::ArrayRef<CollectiveCall> calls, uint32_t value) {
  uint32_t result = 0;
  for (uint32_t lane = 0; lane < kWarpSize; ++lane)
    if ((lanes >> lane & 1) != 0 && calls[lane].value == value)
      result |= 1U << lane;
  return result;
}

uint64_t mlir::remat::emulator::evaluateCollective(uint32_t lane, uint32_t lanes,
                                                   llvm::ArrayRef<CollectiveCall> calls) {
  auto asSigned = [](uint32_t value) { return static_cast<int32_t>(value); };
  switch (calls[lane].operation) {
  case Collective::ShuffleUp:
  case Collective::ShuffleDown:
  case Collective::ShuffleButterfly:
  case Collective::ShuffleIndex:
    return shuffle(lane, lanes, calls);
  case Collective::VoteAll:
    return findEqual(lanes, calls, 1) == lanes;
  case Collective::VoteAny:
    return findEqual(lanes, calls, 1) != 0;
  case Collective::VoteUniform:
  case Collective::Match: {
    uint32_t equal = findEqual(lanes, calls, calls[lane].value);
    return calls[lane].operation == Collective::Match ? equal : equal == lanes;
  }
  case Collective::Ballot:
    return findEqual(lanes, calls, 1);
  case Collective::ReduceAdd:
    return reduce(lanes, calls, std::plus<uint32_t>());
  case Collective::ReduceMin:
    return reduce(lanes, calls,
                  [&](uint32_t a, uint32_t b) { return asSigned(b) < asSigned(a) ? b : a; });
  case Collective::ReduceMax:
    return reduce(lanes, calls,
                  [&](uint32_t a, uint32_t b) { return asSigned(a) < asSigned(b) ? b : a; });
  case Collective::ReduceUnsignedMin:
    return reduce(lanes, calls, [](uint32_t a, uint32_t b) { return std::min(a, b); });
  case Collective::ReduceUnsignedMax:
    return reduce(lanes, calls, [](uint32_t a, uint32_t b) { return std::max(a, b); });
  case Collective::ReduceAnd:
    return reduce(lanes, calls, std::bit_and<uint32_t>());
  case Collective::ReduceOr:
    return reduce(lanes, calls, std::bit_or<uint32_t>());
  case Collective::ReduceXor:
    return reduce(lanes, calls, std::bit_xor<uint32_t>());
  default:
    return 0;
  }
}
