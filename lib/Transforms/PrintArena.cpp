//===- PrintArena.cpp - An arena as a table and as a picture ----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Analysis/MemoryProfile.h"
#include "Remat/Support/CSV.h"
#include "Remat/Transforms/Arena.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace mlir::remat;
using llvm::formatv;

namespace {
/// One row.
struct ArenaRow {
  size_t id;
  planner::Buffer lifetime;
  int64_t offset;
  /// The first operation that writes to the buffer, and where it comes from.
  std::string operation, location;
};
} // namespace

static ArenaRow makeRow(size_t id, const AllocatedBuffer &buffer, int64_t offset) {
  memref::AllocOp allocation = buffer.allocation;
  Operation *first = nullptr;
  for (Operation *user : allocation->getUsers())
    if (!first || (user->getBlock() == first->getBlock() && user->isBeforeInBlock(first)))
      first = user;
  return {id, buffer.lifetime, offset,
          first ? first->getName().getStringRef().str() : std::string(),
          formatLocation(allocation.getLoc())};
}

/// Text of XML, which has no control characters.
static std::string escape(StringRef text) {
  std::string plain = text.str(), escaped;
  for (char &c : plain)
    c = static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  llvm::raw_string_ostream os(escaped);
  llvm::printHTMLEscaped(plain, os);
  return escaped;
}

/// Time to the right, addresses upwards; each buffer says what it is when pointed at.
static void printPicture(StringRef name, ArrayRef<ArenaRow> rows, int64_t arenaBytes,
                         raw_ostream &os) {
  constexpr int64_t kWidth = 1200, kHeight = 600, kMargin = 40;
  int64_t numTimes = 1;
  for (const ArenaRow &row : rows)
    numTimes = std::max(numTimes, row.lifetime.end);
  double perTime = double(kWidth) / numTimes;
  double perByte = double(kHeight) / std::max<int64_t>(arenaBytes, 1);
  os << formatv("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" "
                "font-family=\"sans-serif\" font-size=\"14\">\n",
                kWidth + 2 * kMargin, kHeight + 2 * kMargin);
  os << formatv("<rect x=\"{0}\" y=\"{0}\" width=\"{1}\" height=\"{2}\" fill=\"#f4f4f4\"/>\n",
                kMargin, kWidth, kHeight);
  for (const ArenaRow &row : rows) {
    // Colours that differ from one buffer to the next: multiples of the golden angle.
    int64_t hue = int64_t(row.id) * 1375 / 10 % 360;
    os << formatv("<rect x=\"{0:f2}\" y=\"{1:f2}\" width=\"{2:f2}\" height=\"{3:f2}\" "
                  "fill=\"hsl({4},60%,65%)\"><title>{5} B at {6}: {7}, {8}</title></rect>\n",
                  kMargin + row.lifetime.begin * perTime,
                  kMargin + kHeight - (row.offset + row.lifetime.bytes) * perByte,
                  (row.lifetime.end - row.lifetime.begin) * perTime, row.lifetime.bytes * perByte,
                  hue, row.lifetime.bytes, row.offset, escape(row.operation), escape(row.location));
  }
  os << formatv("<text x=\"{0}\" y=\"{1}\">{2}: {3} buffers, arena of {4} B</text>\n", kMargin,
                kMargin - 12, escape(name), rows.size(), arenaBytes);
  os << formatv("<text x=\"{0}\" y=\"{1}\">time (operations)</text>\n</svg>\n", kMargin,
                kHeight + 2 * kMargin - 12);
}

void mlir::remat::printArena(func::FuncOp function, const ArenaPlan &plan, StringRef path,
                             raw_ostream &os) {
  std::vector<ArenaRow> rows;
  for (auto [id, buffer] : llvm::enumerate(plan.buffers))
    rows.push_back(makeRow(id, buffer, plan.packing.offsets[id]));
  if (path.ends_with(".svg"))
    return printPicture(function.getSymName(), rows, plan.packing.arenaBytes, os);
  if (path.ends_with(".json")) {
    llvm::json::Array buffers;
    for (const ArenaRow &row : rows)
      buffers.push_back(llvm::json::Object{{"begin", row.lifetime.begin},
                                           {"end", row.lifetime.end},
                                           {"bytes", row.lifetime.bytes},
                                           {"offset", row.offset},
                                           {"operation", row.operation},
                                           {"location", row.location}});
    llvm::json::Object object{{"version", 1},
                              {"function", function.getSymName()},
                              {"arena_bytes", plan.packing.arenaBytes},
                              {"buffers", std::move(buffers)}};
    os << formatv("{0:2}", llvm::json::Value(std::move(object))) << '\n';
    return;
  }
  os << "id,lower,upper,size,offset,operation,location\n";
  for (const ArenaRow &row : rows)
    os << row.id << ',' << row.lifetime.begin << ',' << row.lifetime.end << ','
       << row.lifetime.bytes << ',' << row.offset << ',' << row.operation << ','
       << quoteCSV(row.location) << '\n';
}
