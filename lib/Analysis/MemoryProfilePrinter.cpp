//===- MemoryProfilePrinter.cpp - Memory profiles as text and JSON ----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tables, the curve, the explanation, and JSON. Exact bytes in tables, rounded
// ones in sentences. Works out nothing about the function.
//
//===----------------------------------------------------------------------===//

#include "Remat/Analysis/MemoryProfile.h"

#include "Remat/Support/ByteCount.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::remat;

/// Characters of the curve.
static constexpr int64_t kNumRows = 12, kNumColumns = 72;

/// Recomputation is worth the trouble when it can free this share of the peak.
static constexpr double kWorthwhileShare = 0.15;

/// 0 for nothing of nothing.
static double getShare(int64_t part, int64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

static std::string formatShare(int64_t part, int64_t whole) {
  return llvm::formatv("{0:f1} %", 100 * getShare(part, whole)).str();
}

//===----------------------------------------------------------------------===//
// Explanation
//===----------------------------------------------------------------------===//

namespace {
/// Something that fills memory, and what helps against it.
struct Cause {
  int64_t bytes;
  std::string advice;
};
} // namespace

static std::string formatOperation(const ProfileOperation &op) {
  return "'" + op.name + "' (operation " + std::to_string(op.index) + ")";
}

/// What needs the largest working set, as the subject of a sentence.
static std::string describeLargest(const MemoryProfile &profile) {
  return profile.largestIsTerminator ? "the results" : formatOperation(profile.largest);
}

static std::string getStateAdvice(const MemoryProfile &profile, StringRef amount) {
  std::string text = ("parameters and optimizer state take " + amount +
                      ", which a smaller batch does not change: ")
                         .str();
  // New values that stand beside the old ones where it matters.
  int64_t newState = profile.largestIsTerminator ? profile.newStateBytes : 0;
  int64_t newStateAtPeak = 0;
  for (const LiveStorage &row : profile.live)
    if (isState(row.category) && row.producer != "argument")
      newStateAtPeak += row.bytes;
  newState = std::max(newState, newStateAtPeak);
  if (newState > 0)
    text += "donate these arguments so that they are updated in place (saves up to " +
            formatBytes(newState) + "), ";
  return text + "keep them in bf16, shard them over devices, or offload the optimizer state";
}

/// What else than recomputation reduces the peak.
static std::string getAdvice(const MemoryProfile &profile) {
  int64_t peak = profile.packedPeakBytes;
  auto amount = [&](int64_t bytes) {
    return formatBytes(bytes) + " (" + formatShare(bytes, peak) + ")";
  };
  if (2 * profile.largestBytes >= peak && !profile.largestIsTerminator) {
    std::string what = formatOperation(profile.largest) + " alone needs " +
                       amount(profile.largestBytes) + " for its operands, results and workspace: ";
    if (profile.largestHasRegions)
      return what + "let it keep less (recompute inside its body, update in place what a loop "
                    "carries, or make its iterations smaller)";
    return what + "fuse it with its neighbours or split it into parts";
  }

  int64_t state =
      profile.getBytes(Category::Parameter) + profile.getBytes(Category::OptimizerState);
  int64_t gradients = profile.getBytes(Category::Gradient);
  int64_t inputs = profile.getBytes(Category::Input);
  int64_t constants = profile.getBytes(Category::Constant);
  int64_t temporaries = profile.getBytes(Category::Temporary) + profile.workspaceBytes;
  const Cause causes[] = {
      {state, getStateAdvice(profile, amount(state))},
      {gradients, "gradients take " + amount(gradients) +
                      ": update each parameter as soon as its gradient is there"},
      {inputs, "inputs (arguments that are not returned) take " + amount(inputs) +
                   ": use a smaller batch, or keep frozen parameters in fewer bits"},
      {constants, "constants of the program take " + amount(constants) +
                      ": compute them or pass them in fewer bits"},
      {temporaries, "temporaries and workspace at " + formatOperation(profile.peak) + " take " +
                        amount(temporaries) +
                        ": fuse the operations there or split them into parts"}};
  // The first of equal ones.
  const Cause *largest =
      std::max_element(std::begin(causes), std::end(causes),
                       [](const Cause &a, const Cause &b) { return a.bytes < b.bytes; });
  return largest->advice;
}

std::string mlir::remat::explain(const MemoryProfile &profile) {
  int64_t peak = profile.packedPeakBytes;
  if (peak == 0)
    return "No memory is used.";
  std::string of = " of the packed peak of " + formatBytes(peak);
  int64_t activations = profile.getBytes(Category::Activation);
  if (!profile.loss)
    return "No result looks like a loss, so activations are not told from temporaries, which "
           "take " +
           formatBytes(profile.getBytes(Category::Temporary)) + of +
           "; if this is a training step, name the loss with 'loss=N'.";

  std::string amount = formatBytes(activations) + of + " (" + formatShare(activations, peak) + ")";
  std::string floor = formatBytes(profile.workingSetBytes);
  int64_t savable = std::min(activations, std::max<int64_t>(0, peak - profile.workingSetBytes));
  if (getShare(savable, peak) >= kWorthwhileShare)
    return "Activations take " + amount + ", so recomputation can help; no plan needs less than " +
           floor + ", for the arguments and " + describeLargest(profile) + ".";
  if (getShare(activations, peak) >= kWorthwhileShare)
    return "Activations take " + amount + ", but recomputation can free at most " +
           formatBytes(savable) + " of them, because the arguments and " +
           describeLargest(profile) + " need " + floor + " in any plan; " + getAdvice(profile) +
           ".";
  return "Activations take only " + amount + ", so recomputation cannot help much; " +
         getAdvice(profile) + ".";
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

namespace {
class Printer {
public:
  Printer(const MemoryProfile &profile, raw_ostream &os, const ProfilePrintOptions &options)
      : profile(profile), os(os), options(options) {}

  void run() {
    printHeader();
    if (profile.packedPeakBytes == 0)
      return;
    printCurve();
    printLive();
    printCategories();
    printProducers();
  }

private:
  void printHeader();
  void printCurve();
  void printLive();
  void printCategories();
  void printProducers();

  /// Bytes and their share of the packed peak.
  void printAmount(int64_t bytes) {
    os << "  " << llvm::right_justify(std::to_string(bytes), 15) << ' '
       << llvm::right_justify(formatShare(bytes, profile.packedPeakBytes), 7) << "  ";
  }
  void printRow(int64_t bytes, const Twine &label) {
    printAmount(bytes);
    os << label << '\n';
  }
  /// What stands in no storage, and the sum.
  void printRest() {
    if (profile.workspaceBytes != 0)
      printRow(profile.workspaceBytes, "workspace");
    if (profile.alignmentBytes != 0)
      printRow(profile.alignmentBytes, "alignment");
    if (profile.fragmentationBytes != 0)
      printRow(profile.fragmentationBytes, "fragmentation");
    printRow(profile.packedPeakBytes, "packed peak");
  }
  /// How many of `size` rows are printed; never cuts a single one.
  size_t getNumShown(size_t size) const {
    size_t limit = options.limit;
    return limit == 0 || size <= limit + 1 ? size : limit;
  }
  void printLocation(StringRef location) {
    if (!location.empty())
      os << " at " << location;
  }

  const MemoryProfile &profile;
  raw_ostream &os;
  const ProfilePrintOptions &options;
};
} // namespace

void Printer::printHeader() {
  os << "memory of function '" << profile.function << "' (" << profile.numSteps
     << (profile.numSteps == 1 ? " operation" : " operations") << ", alignment "
     << profile.alignment << " B";
  if (profile.scope == Scope::Temporaries)
    os << ", without arguments and results";
  os << ")\n\n";
  auto line = [&](StringRef label, int64_t bytes) {
    os << "  " << llvm::left_justify(label, 18) << llvm::right_justify(std::to_string(bytes), 15)
       << " B  " << llvm::right_justify(formatBytes(bytes), 8) << '\n';
  };
  line("packed peak", profile.packedPeakBytes);
  line("live peak", profile.livePeakBytes);
  line("arguments", profile.argumentBytes);
  line("results", profile.resultBytes);
  line("constants", profile.constantBytes);
  line("working set", profile.workingSetBytes);
  if (profile.numUnknownSizes != 0)
    os << "  unknown sizes, counted as 0 B: " << profile.numUnknownSizes << ", the first is "
       << profile.firstUnknownSize << '\n';
  os << '\n' << explain(profile) << '\n';
}

/// Draws `timeline`, stretched when it is short: a cell is filled when the live
/// bytes exceed its lower edge.
void Printer::printCurve() {
  int64_t top = profile.livePeakBytes;
  auto exceeds = [&](int64_t bytes, int64_t row) {
    return static_cast<__int128>(bytes) * kNumRows > static_cast<__int128>(top) * row;
  };
  /// One character per column of the curve.
  auto draw = [&](llvm::function_ref<char(const ProfileColumn &)> getCell) {
    std::string line;
    int64_t size = profile.timeline.size();
    for (int64_t column = 0; column < kNumColumns; ++column)
      line += getCell(profile.timeline[column * size / kNumColumns]);
    return line;
  };
  auto isPeak = [&](const ProfileColumn &column) {
    return column.begin <= profile.peakStep && profile.peakStep < column.end;
  };
  auto isLoss = [&](const ProfileColumn &column) {
    return profile.loss && column.begin <= profile.lossStep && profile.lossStep < column.end;
  };

  os << "\nlive bytes over time\n\n";
  for (int64_t row = kNumRows - 1; row >= 0; --row) {
    std::string line = draw([&](const ProfileColumn &column) {
      if (exceeds(column.bytes, row))
        return exceeds(profile.boundaryBytes, row) ? '=' : '#';
      return isLoss(column) ? ':' : ' ';
    });
    bool isLabelled = (row + 1) % 3 == 0;
    int64_t edge = static_cast<int64_t>(static_cast<__int128>(top) * (row + 1) / kNumRows);
    os << "  " << llvm::right_justify(isLabelled ? formatBytes(edge) : "", 8) << " |"
       << StringRef(line).rtrim() << '\n';
  }
  std::string axis = draw([&](const ProfileColumn &column) {
    return isPeak(column) ? 'P' : isLoss(column) ? 'L' : '-';
  });
  os << "       0 B +" << axis << '\n';
  std::string last = std::to_string(profile.numSteps - 1);
  os << "            0" << llvm::right_justify(last, kNumColumns - 1) << '\n';
  os << "  P peak at operation " << profile.peak.index;
  if (profile.loss)
    os << ", L end of the forward pass at operation " << profile.loss->index << " (result "
       << *profile.lossResult << " is the loss)";
  os << "\n  = arguments and constants, # everything else\n\n";
}

void Printer::printLive() {
  os << "live at the peak, " << formatOperation(profile.peak);
  printLocation(profile.peak.location);
  os << ":\n\n";
  size_t numShown = getNumShown(profile.live.size());
  size_t categoryWidth = 0, valueWidth = 0, producerWidth = 0;
  for (const LiveStorage &row : ArrayRef(profile.live).take_front(numShown)) {
    categoryWidth = std::max(categoryWidth, getCategoryName(row.category).size());
    valueWidth = std::max(valueWidth, row.value.size());
    producerWidth = std::max(producerWidth, row.producer.size());
  }
  for (const LiveStorage &row : ArrayRef(profile.live).take_front(numShown)) {
    printAmount(row.bytes);
    os << llvm::left_justify(getCategoryName(row.category), categoryWidth) << "  "
       << llvm::left_justify(row.value, valueWidth) << "  "
       << llvm::left_justify(row.producer, producerWidth) << "  ";
    if (row.lastReader)
      os << "last read by " << formatOperation(*row.lastReader);
    else
      os << (row.producer == "constant" ? "read inside operations" : "never read");
    if (!row.location.empty())
      os << "; " << row.location;
    os << '\n';
  }
  int64_t rest = 0;
  for (const LiveStorage &row : ArrayRef(profile.live).drop_front(numShown))
    rest += row.bytes;
  if (numShown < profile.live.size())
    printRow(rest, Twine(profile.live.size() - numShown) + " more");
  printRest();
  os << '\n';
}

void Printer::printCategories() {
  os << "by category:\n\n";
  for (Category category : getAllCategories())
    if (int64_t bytes = profile.getBytes(category))
      printRow(bytes, getCategoryName(category));
  printRest();
  os << '\n';
}

void Printer::printProducers() {
  os << "by producer:\n\n";
  size_t numShown = getNumShown(profile.producers.size());
  for (const ProducerTotal &total : ArrayRef(profile.producers).take_front(numShown))
    printRow(total.bytes, total.producer + " (" + Twine(total.numStorages) +
                              (total.numStorages == 1 ? " storage)" : " storages)"));
  int64_t rest = 0;
  for (const ProducerTotal &total : ArrayRef(profile.producers).drop_front(numShown))
    rest += total.bytes;
  if (numShown < profile.producers.size())
    printRow(rest, Twine(profile.producers.size() - numShown) + " more");
  printRest();
}

void mlir::remat::print(const MemoryProfile &profile, raw_ostream &os,
                        const ProfilePrintOptions &options) {
  Printer(profile, os, options).run();
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

/// A name or location as JSON text, which must be UTF-8.
static std::string fixText(StringRef text) { return llvm::json::fixUTF8(text); }

static llvm::json::Value toJSON(const std::optional<ProfileOperation> &op) {
  if (!op)
    return nullptr;
  return llvm::json::Object{
      {"name", fixText(op->name)}, {"index", op->index}, {"location", fixText(op->location)}};
}

llvm::json::Value mlir::remat::toJSON(const MemoryProfile &profile) {
  llvm::json::Array arguments, live, producers, timeline;
  for (Category category : profile.argumentCategories)
    arguments.push_back(getCategoryName(category));
  for (const LiveStorage &row : profile.live)
    live.push_back(llvm::json::Object{{"value", fixText(row.value)},
                                      {"producer", fixText(row.producer)},
                                      {"bytes", row.bytes},
                                      {"category", getCategoryName(row.category)},
                                      {"location", fixText(row.location)},
                                      {"last_reader", ::toJSON(row.lastReader)}});
  for (const ProducerTotal &total : profile.producers)
    producers.push_back(llvm::json::Object{{"producer", fixText(total.producer)},
                                           {"bytes", total.bytes},
                                           {"storages", total.numStorages}});
  for (const ProfileColumn &column : profile.timeline)
    timeline.push_back(
        llvm::json::Object{{"begin", column.begin}, {"end", column.end}, {"bytes", column.bytes}});
  llvm::json::Object categories;
  for (Category category : getAllCategories())
    categories[getCategoryName(category)] = profile.getBytes(category);
  llvm::json::Object largest{{"operation", ::toJSON(profile.largest)},
                             {"bytes", profile.largestBytes},
                             {"workspace_bytes", profile.largestWorkspaceBytes}};
  llvm::json::Object object{
      {"version", 1},
      {"function", fixText(profile.function)},
      {"operations", profile.numSteps},
      {"scope", profile.scope == Scope::Total ? "total" : "temporaries"},
      {"alignment", profile.alignment},
      {"live_peak_bytes", profile.livePeakBytes},
      {"packed_peak_bytes", profile.packedPeakBytes},
      {"argument_bytes", profile.argumentBytes},
      {"result_bytes", profile.resultBytes},
      {"constant_bytes", profile.constantBytes},
      {"working_set_bytes", profile.workingSetBytes},
      {"argument_categories", std::move(arguments)},
      {"peak_operation", ::toJSON(profile.peak)},
      {"live_at_peak", std::move(live)},
      {"workspace_bytes", profile.workspaceBytes},
      {"alignment_bytes", profile.alignmentBytes},
      {"fragmentation_bytes", profile.fragmentationBytes},
      {"categories_at_peak", std::move(categories)},
      {"producers_at_peak", std::move(producers)},
      {"timeline", std::move(timeline)},
      {"largest_operation", std::move(largest)},
      {"loss", nullptr},
      {"unknown_sizes", llvm::json::Object{{"count", profile.numUnknownSizes},
                                           {"first", fixText(profile.firstUnknownSize)}}},
      {"explanation", fixText(explain(profile))}};
  if (profile.loss)
    object["loss"] = llvm::json::Object{{"result", int64_t(*profile.lossResult)},
                                        {"operation", ::toJSON(profile.loss)}};
  return object;
}
