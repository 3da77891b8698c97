//===- PeakTree.h - Memory over time, with its maximum ----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A segment tree over time slots: add to a range, set one slot's own part, find
// the highest slot. Every operation is logarithmic in the number of slots.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_PLANNER_PEAKTREE_H
#define REMAT_LIB_PLANNER_PEAKTREE_H

#include "llvm/ADT/SmallVector.h"
#include <algorithm>
#include <cstdint>
#include <vector>

namespace mlir::remat::planner {

class PeakTree {
public:
  explicit PeakTree(int64_t count) : numSlots(count) {
    while (width < numSlots)
      width *= 2;
    maximum.assign(2 * width, 0);
    pending.assign(2 * width, 0);
    own.assign(width, 0);
  }

  /// Adds `bytes` to the slots of the closed range [first, last]; empty when
  /// first > last.
  void add(int64_t first, int64_t last, int64_t bytes) {
    if (first > last || bytes == 0)
      return;
    int64_t left = first + width, right = last + width + 1;
    int64_t leftStart = left, rightStart = right - 1;
    for (; left < right; left /= 2, right /= 2) {
      if (left & 1)
        addToNode(left++, bytes);
      if (right & 1)
        addToNode(--right, bytes);
    }
    update(leftStart);
    update(rightStart);
  }

  /// Sets the part of a slot that belongs to it alone.
  void setOwn(int64_t slot, int64_t bytes) {
    int64_t delta = bytes - own[slot];
    if (delta == 0)
      return;
    own[slot] = bytes;
    addToNode(slot + width, delta);
    update(slot + width);
  }

  int64_t getMaximum() const { return maximum[1]; }

  /// The first slot with the maximum.
  int64_t getPeakSlot() const {
    int64_t node = 1;
    while (node < width) {
      int64_t rest = maximum[node] - pending[node];
      node = maximum[2 * node] == rest ? 2 * node : 2 * node + 1;
    }
    return node - width;
  }

  /// The bytes at one slot.
  int64_t get(int64_t slot) const {
    int64_t node = slot + width, sum = maximum[node];
    for (node /= 2; node >= 1; node /= 2)
      sum += pending[node];
    return sum;
  }

  /// The maximum over the closed range [first, last], or 0 when it is empty.
  int64_t getMaximum(int64_t first, int64_t last) const {
    if (first > last)
      return 0;
    int64_t left = first + width, right = last + width;
    int64_t leftMaximum = maximum[left], rightMaximum = maximum[right];
    while (left / 2 != right / 2) {
      if (!(left & 1))
        leftMaximum = std::max(leftMaximum, maximum[left + 1]);
      if (right & 1)
        rightMaximum = std::max(rightMaximum, maximum[right - 1]);
      left /= 2;
      right /= 2;
      leftMaximum += pending[left];
      rightMaximum += pending[right];
    }
    int64_t result = std::max(leftMaximum, rightMaximum);
    for (left /= 2; left >= 1; left /= 2)
      result += pending[left];
    return result;
  }

  /// The sum over all slots of the bytes above `threshold`, linear in the number of
  /// slots that are above it.
  __int128 getExcess(int64_t threshold) const {
    __int128 sum = 0;
    forEachAbove(threshold, [&](int64_t, int64_t bytes) { sum += bytes - threshold; });
    return sum;
  }

  /// Calls `visit(slot, bytes)` for the slots above `threshold`, in order.
  template <typename Fn>
  void forEachAbove(int64_t threshold, Fn visit) const {
    // Nodes still to look at, with what is pending above them.
    llvm::SmallVector<std::pair<int64_t, int64_t>, 64> stack{{1, 0}};
    while (!stack.empty()) {
      auto [node, above] = stack.pop_back_val();
      if (maximum[node] + above <= threshold)
        continue;
      if (node >= width) {
        // Beyond the last slot nothing is live, but a threshold may be below zero.
        if (node - width < numSlots)
          visit(node - width, maximum[node] + above);
        continue;
      }
      stack.push_back({2 * node + 1, above + pending[node]});
      stack.push_back({2 * node, above + pending[node]});
    }
  }

private:
  void addToNode(int64_t node, int64_t bytes) {
    maximum[node] += bytes;
    if (node < width)
      pending[node] += bytes;
  }

  void update(int64_t node) {
    for (node /= 2; node >= 1; node /= 2)
      maximum[node] = std::max(maximum[2 * node], maximum[2 * node + 1]) + pending[node];
  }

  int64_t numSlots;
  /// Leaves: a power of two of at least the number of slots.
  int64_t width = 1;
  /// Of a node: the maximum below it, with everything pending at it.
  std::vector<int64_t> maximum;
  /// Of an inner node: what was added to all slots below it.
  std::vector<int64_t> pending;
  std::vector<int64_t> own;
};

} // namespace mlir::remat::planner

#endif // REMAT_LIB_PLANNER_PEAKTREE_H
