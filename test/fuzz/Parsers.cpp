#include "Parsers.h"
std::optional<std::string> mlir::remat::fuzz::checkParsers(Harness &, uint64_t, int64_t &) { return std::nullopt; }
