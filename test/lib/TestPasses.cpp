//===- TestPasses.cpp - Passes that exist for tests only --------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

namespace mlir::remat::test {
void registerTestOperationModelsPass();
void registerTestResortPass();

void registerTestPasses() {
  registerTestOperationModelsPass();
  registerTestResortPass();
}
} // namespace mlir::remat::test
