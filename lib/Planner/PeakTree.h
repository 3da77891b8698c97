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
#include <limits>
#include <vector>

namespace mlir::remat::planner {

class PeakTree {
public:
  explicit PeakTree(int64_t numSlots) {
    while (width < numSlots)
      width *= 2;
    nodes.resize(2 * width);
    own.assign(width, 0);
    for (int64_t slot = 0; slot < numSlots; ++slot)
      nodes[slot + width].count = 1;
    for (int64_t slot = numSlots; slot < width; ++slot)
      nodes[slot + width].minimum = std::numeric_limits<int64_t>::max() / 2;
    for (int64_t node = width - 1; node >= 1; --node) {
      nodes[node].count = nodes[2 * node].count + nodes[2 * node + 1].count;
      nodes[node].minimum = std::min(nodes[2 * node].minimum, nodes[2 * node + 1].minimum);
    }
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

  int64_t getMaximum() const { return nodes[1].maximum; }

  /// The first slot with the maximum.
  int64_t getPeakSlot() const {
    int64_t node = 1;
    while (node < width) {
      int64_t rest = nodes[node].maximum - nodes[node].pending;
      node = nodes[2 * node].maximum == rest ? 2 * node : 2 * node + 1;
    }
    return node - width;
  }

  /// The bytes at one slot.
  int64_t get(int64_t slot) const {
    int64_t node = slot + width, sum = nodes[node].maximum;
    for (node /= 2; node >= 1; node /= 2)
      sum += nodes[node].pending;
    return sum;
  }

  /// The maximum over the closed range [first, last], or 0 when it is empty.
  int64_t getMaximum(int64_t first, int64_t last) const {
    if (first > last)
      return 0;
    int64_t left = first + width, right = last + width;
    int64_t leftMaximum = nodes[left].maximum, rightMaximum = nodes[right].maximum;
    while (left / 2 != right / 2) {
      if (!(left & 1))
        leftMaximum = std::max(leftMaximum, nodes[left + 1].maximum);
      if (right & 1)
        rightMaximum = std::max(rightMaximum, nodes[right - 1].maximum);
      left /= 2;
      right /= 2;
      leftMaximum += nodes[left].pending;
      rightMaximum += nodes[right].pending;
    }
    int64_t result = std::max(leftMaximum, rightMaximum);
    for (left /= 2; left >= 1; left /= 2)
      result += nodes[left].pending;
    return result;
  }

  /// The sum over all slots of the bytes above `threshold`. Looks at the slots where
  /// the bytes cross the threshold, not at all that are above it.
  __int128 getExcess(int64_t threshold) const {
    __int128 sum = 0;
    // Nodes still to look at, with what is pending above them.
    llvm::SmallVector<std::pair<int64_t, int64_t>, 64> stack{{1, 0}};
    while (!stack.empty()) {
      auto [node, above] = stack.pop_back_val();
      const Node &info = nodes[node];
      int64_t limit = threshold - above;
      if (info.maximum <= limit)
        continue;
      if (info.minimum >= limit) {
        sum += info.sum - static_cast<__int128>(limit) * info.count;
        continue;
      }
      stack.push_back({2 * node + 1, above + info.pending});
      stack.push_back({2 * node, above + info.pending});
    }
    return sum;
  }

  /// A slot above `threshold`, where there is one: `chooseRight` is asked which way to
  /// go where both lead to one.
  template <typename Fn>
  int64_t findAbove(int64_t threshold, Fn chooseRight) const {
    int64_t node = 1, above = 0;
    while (node < width) {
      above += nodes[node].pending;
      node *= 2;
      bool isLeft = nodes[node].maximum + above > threshold;
      // Nothing is live behind the last slot, but the threshold may be below 0.
      bool isRight = nodes[node + 1].count > 0 && nodes[node + 1].maximum + above > threshold;
      node += isRight && (!isLeft || chooseRight());
    }
    return node - width;
  }

private:
  /// What is below a node, with everything pending at it.
  struct Node {
    int64_t maximum = 0;
    int64_t minimum = 0;
    /// What was added to all slots below it; of an inner node only.
    int64_t pending = 0;
    int64_t count = 0;
    __int128 sum = 0;
  };

  void addToNode(int64_t index, int64_t bytes) {
    Node &node = nodes[index];
    node.maximum += bytes;
    node.minimum += bytes;
    node.sum += static_cast<__int128>(bytes) * node.count;
    if (index < width)
      node.pending += bytes;
  }

  void update(int64_t index) {
    for (index /= 2; index >= 1; index /= 2) {
      Node &node = nodes[index];
      const Node &left = nodes[2 * index], &right = nodes[2 * index + 1];
      node.maximum = std::max(left.maximum, right.maximum) + node.pending;
      node.minimum = std::min(left.minimum, right.minimum) + node.pending;
      node.sum = left.sum + right.sum + static_cast<__int128>(node.pending) * node.count;
    }
  }

  /// Leaves: a power of two of at least the number of slots.
  int64_t width = 1;
  std::vector<Node> nodes;
  std::vector<int64_t> own;
};

} // namespace mlir::remat::planner

#endif // REMAT_LIB_PLANNER_PEAKTREE_H
