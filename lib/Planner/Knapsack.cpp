//===- Knapsack.cpp - The cheapest items that free enough bytes ----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Knapsack.h"
#include "llvm/ADT/STLExtras.h"
#include <queue>
#include <tuple>

using namespace mlir::remat::planner;

int64_t mlir::remat::planner::solveKnapsack(std::vector<KnapsackItem> items, int64_t excess,
                                            int64_t maxSets) {
  // Cheapest bytes first; equal items are equal.
  llvm::sort(items, [](const KnapsackItem &a, const KnapsackItem &b) {
    __int128 left = __int128(a.cost) * b.bytes, right = __int128(b.cost) * a.bytes;
    return left != right ? left < right : std::tie(a.bytes, a.cost) < std::tie(b.bytes, b.cost);
  });
  // Without the first `next` items: what is still to choose, and what was paid.
  struct Node {
    size_t next;
    int64_t excess, cost;
  };
  std::vector<Node> nodes;
  // Lower bound, node.
  using Entry = std::pair<int64_t, int64_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> queue;
  auto push = [&](Node node) {
    int64_t rest = node.excess, cost = node.cost;
    for (size_t next = node.next; rest > 0; ++next) {
      if (next == items.size())
        return;
      const KnapsackItem &item = items[next];
      cost += item.bytes <= rest
                  ? item.cost
                  : int64_t((__int128(item.cost) * rest + item.bytes - 1) / item.bytes);
      rest -= std::min(rest, item.bytes);
    }
    queue.push({cost, -int64_t(nodes.size())});
    nodes.push_back(node);
  };
  push({0, excess, 0});
  while (true) {
    auto [bound, index] = queue.top();
    Node node = nodes[-index];
    if (node.excess <= 0 || int64_t(nodes.size()) > maxSets)
      return bound;
    queue.pop();
    const KnapsackItem &item = items[node.next];
    push({node.next + 1, node.excess, node.cost});
    push({node.next + 1, node.excess - item.bytes, node.cost + item.cost});
  }
}
