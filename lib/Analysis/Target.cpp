//===- Target.cpp - Rates of the machine that will run the code -------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Analysis/Target.h"

#include "Remat/Support/JSON.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace mlir::remat;

static constexpr int64_t kMaxCost = int64_t(1) << 53;
static constexpr int64_t kTera = int64_t(1000) * 1000 * 1000 * 1000;

static Target getPreset(StringRef name, bool &isKnown) {
  isKnown = true;
  if (name == "h100")
    return {"h100", 30 * kTera, 60 * kTera, 800 * kTera, 3 * kTera, 0};
  if (name == "a100")
    return {"a100", 9 * kTera, 18 * kTera, 280 * kTera, kTera / 10 * 17, 0};
  if (name == "cpu")
    return {"cpu", kTera / 20, kTera / 10, kTera / 10, kTera / 50, 0};
  isKnown = false;
  return {};
}

static llvm::Expected<Target> parseTarget(StringRef text, StringRef path) {
  auto fail = [&](const Twine &message) {
    return llvm::createStringError("target file '" + path + "': " + message);
  };
  llvm::Expected<llvm::json::Value> value = parseJSON(text);
  if (!value)
    return fail(llvm::toString(value.takeError()));
  const llvm::json::Object *object = value->getAsObject();
  if (!object)
    return fail("expected a JSON object");

  Target target;
  struct Key {
    const char *name;
    int64_t *number;
    int64_t smallest;
    int64_t largest = std::numeric_limits<int64_t>::max();
  };
  const Key keys[] = {{"flops_f64", &target.flopsF64, 1},
                      {"flops_f32", &target.flopsF32, 1},
                      {"flops_f16", &target.flopsF16, 1},
                      {"bandwidth", &target.bandwidth, 1},
                      {"launch_ps", &target.launch, 0, kMaxCost}};
  std::optional<StringRef> name = object->getString("name");
  if (!name)
    return fail("expected the key 'name' with a string");
  target.name = name->str();
  for (const Key &key : keys) {
    std::optional<int64_t> number = object->getInteger(key.name);
    if (!number || *number < key.smallest)
      return fail(Twine("expected the key '") + key.name + "' with an integer of at least " +
                  Twine(key.smallest));
    if (*number > key.largest)
      return fail(Twine("expected the key '") + key.name + "' with an integer of at most " +
                  Twine(key.largest));
    *key.number = *number;
  }
  for (const auto &entry : *object)
    if (entry.first != "name" &&
        llvm::none_of(keys, [&](const Key &key) { return entry.first == key.name; }))
      return fail("unknown key '" + StringRef(entry.first) + "'");
  return target;
}

llvm::Expected<Target> Target::get(StringRef nameOrPath) {
  bool isKnown;
  Target preset = getPreset(nameOrPath, isKnown);
  if (isKnown)
    return preset;
  auto buffer = llvm::MemoryBuffer::getFile(nameOrPath, /*IsText=*/true);
  if (!buffer)
    return llvm::createStringError("unknown target '" + nameOrPath +
                                   "': expected h100, a100, cpu or a file, but reading it "
                                   "as a file failed: " +
                                   buffer.getError().message());
  return parseTarget((*buffer)->getBuffer(), nameOrPath);
}

/// amount / rate in picoseconds, rounded up.
static int64_t getDuration(int64_t amount, int64_t rate) {
  __int128 picoseconds = (static_cast<__int128>(amount) * kTera + rate - 1) / rate;
  return static_cast<int64_t>(std::min<__int128>(picoseconds, kMaxCost));
}

int64_t Target::getCost(int64_t flops, Type flopsType, int64_t bytes) const {
  if (flops == 0 && bytes == 0)
    return 0;
  int64_t rate = flopsF32;
  if (auto complexType = dyn_cast_or_null<ComplexType>(flopsType))
    flopsType = complexType.getElementType();
  if (auto floatType = dyn_cast_or_null<FloatType>(flopsType))
    rate = floatType.getWidth() >= 64 ? flopsF64 : floatType.getWidth() <= 16 ? flopsF16 : flopsF32;
  return addCosts(std::max(getDuration(flops, rate), getDuration(bytes, bandwidth)), launch);
}

int64_t mlir::remat::addCosts(int64_t a, int64_t b) { return std::min(a + b, kMaxCost); }

int64_t mlir::remat::multiplyCosts(int64_t a, int64_t b) {
  return static_cast<int64_t>(std::min<__int128>(static_cast<__int128>(a) * b, kMaxCost));
}
