//===- TypeSizeTest.cpp - Bytes of types ------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Interfaces/TypeSize.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::remat;

namespace {
constexpr std::optional<int64_t> unknown = std::nullopt;

class TypeSizeTest : public testing::Test {
protected:
  TypeSizeTest() {
    context.loadDialect<DLTIDialect, LLVM::LLVMDialect, quant::QuantDialect,
                        sparse_tensor::SparseTensorDialect>();
    context.allowUnregisteredDialects();
    setLayout("module {}");
  }

  /// Sizes come from the data layout of the module `text`.
  void setLayout(StringRef text) {
    module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
    layout = std::make_unique<DataLayout>(*module);
  }

  Type parse(StringRef text) {
    Type type = parseType(text, &context);
    EXPECT_TRUE(type) << text.str();
    return type;
  }

  std::optional<int64_t> element(StringRef text) { return getElementBytes(parse(text), *layout); }
  std::optional<int64_t> storage(StringRef text) { return getStorageBytes(parse(text), *layout); }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::unique_ptr<DataLayout> layout;
};
} // namespace

TEST_F(TypeSizeTest, IntegersTakeWholeAlignedBytes) {
  EXPECT_EQ(element("i1"), 1);
  EXPECT_EQ(element("i4"), 1);
  EXPECT_EQ(element("i7"), 1);
  EXPECT_EQ(element("i8"), 1);
  EXPECT_EQ(element("ui8"), 1);
  EXPECT_EQ(element("si16"), 2);
  EXPECT_EQ(element("i24"), 4); // Three bytes, aligned to four.
  EXPECT_EQ(element("i32"), 4);
  EXPECT_EQ(element("i48"), 8);
  EXPECT_EQ(element("i64"), 8);
  EXPECT_EQ(element("i128"), 16);
  EXPECT_EQ(element("index"), 8);
}

TEST_F(TypeSizeTest, Floats) {
  for (StringRef type : {"f8E5M2", "f8E4M3", "f8E4M3FN", "f8E5M2FNUZ", "f8E4M3FNUZ",
                         "f8E4M3B11FNUZ", "f8E3M4", "f8E8M0FNU", "f4E2M1FN", "f6E2M3FN"})
    EXPECT_EQ(element(type), 1) << type.str();
  EXPECT_EQ(element("bf16"), 2);
  EXPECT_EQ(element("f16"), 2);
  EXPECT_EQ(element("tf32"), 4); // 19 bits.
  EXPECT_EQ(element("f32"), 4);
  EXPECT_EQ(element("f64"), 8);
  EXPECT_EQ(element("f80"), 16); // Ten bytes.
  EXPECT_EQ(element("f128"), 16);
}

TEST_F(TypeSizeTest, CompositeElements) {
  EXPECT_EQ(element("complex<f32>"), 8);
  EXPECT_EQ(element("complex<f64>"), 16);
  EXPECT_EQ(element("complex<i1>"), 2);
  EXPECT_EQ(element("vector<4xf32>"), 16);
  EXPECT_EQ(element("vector<3xf32>"), 16); // Rounded up to four lanes.
  EXPECT_EQ(element("vector<2x3xf16>"), 16);
  EXPECT_EQ(element("vector<3x2xf16>"), 12);
  EXPECT_EQ(element("vector<f32>"), 4);
  EXPECT_EQ(element("!quant.uniform<i8:f32, 1.0>"), 1);
  EXPECT_EQ(element("!llvm.ptr"), 8);
}

TEST_F(TypeSizeTest, UnknownElements) {
  EXPECT_EQ(element("vector<[4]xf32>"), unknown);
  EXPECT_EQ(element("vector<4611686018427387904x4xf32>"), unknown);
  EXPECT_EQ(element("!stablehlo.token"), unknown);
  EXPECT_EQ(element("none"), unknown);
  EXPECT_EQ(element("tuple<f32>"), unknown);
  EXPECT_EQ(element("memref<4xf32>"), unknown);
}

TEST_F(TypeSizeTest, Tensors) {
  EXPECT_EQ(storage("tensor<f32>"), 4);
  EXPECT_EQ(storage("tensor<8x4xf32>"), 128);
  EXPECT_EQ(storage("tensor<5xi1>"), 5);
  EXPECT_EQ(storage("tensor<5xi4>"), 5);
  EXPECT_EQ(storage("tensor<3xindex>"), 24);
  EXPECT_EQ(storage("tensor<3xcomplex<f32>>"), 24);
  EXPECT_EQ(storage("tensor<2xvector<3xf32>>"), 32);
  EXPECT_EQ(storage("tensor<6xf8E4M3FN>"), 6);
  EXPECT_EQ(storage("tensor<1048576x1048576xf32>"), int64_t(1) << 42);
}

TEST_F(TypeSizeTest, NothingTakesNothing) {
  EXPECT_EQ(storage("tensor<0xf32>"), 0);
  EXPECT_EQ(storage("tensor<4x0x8xf32>"), 0);
  EXPECT_EQ(storage("tensor<0x?xf32>"), 0);
  EXPECT_EQ(storage("memref<0x8xf32>"), 0);
  // More elements than int64_t holds, none of them there.
  EXPECT_EQ(storage("tensor<9223372036854775807x2x0xf32>"), 0);
}

TEST_F(TypeSizeTest, ScalarsAndVectorsTakeOneElement) {
  EXPECT_EQ(storage("f32"), 4);
  EXPECT_EQ(storage("i1"), 1);
  EXPECT_EQ(storage("index"), 8);
  EXPECT_EQ(storage("complex<f32>"), 8);
  EXPECT_EQ(storage("vector<3xf32>"), 16);
  EXPECT_EQ(storage("none"), 0);
  EXPECT_EQ(storage("() -> ()"), 0);
}

TEST_F(TypeSizeTest, Tuples) {
  EXPECT_EQ(storage("tuple<>"), 0);
  EXPECT_EQ(storage("tuple<tensor<4xf32>, tensor<2xf64>, i32>"), 36);
  EXPECT_EQ(storage("tuple<tensor<4xf32>, tuple<tensor<1xi8>>>"), 17);
  EXPECT_EQ(storage("tuple<tensor<4xf32>, !stablehlo.token>"), unknown);
}

TEST_F(TypeSizeTest, Memrefs) {
  EXPECT_EQ(storage("memref<4x4xf32>"), 64);
  EXPECT_EQ(storage("memref<4x4xf32, 3>"), 64);
  // From the first to the last element: (3 * 8 + 3 * 1 + 1) * 4.
  EXPECT_EQ(storage("memref<4x4xf32, strided<[8, 1], offset: 16>>"), 112);
  EXPECT_EQ(storage("memref<4x4xf32, strided<[?, ?], offset: ?>>"), 64);
  EXPECT_EQ(storage("memref<?x4xf32>"), unknown);
  EXPECT_EQ(storage("memref<*xf32>"), unknown);
}

TEST_F(TypeSizeTest, Encodings) {
  EXPECT_EQ(storage("tensor<8xf32, \"row major\">"), 32);
  EXPECT_EQ(storage("tensor<8xf32, #mine.layout<rows>>"), 32);
  EXPECT_EQ(storage("tensor<?xf32, #stablehlo.bounds<8>>"), unknown);
  EXPECT_EQ(storage("tensor<8xf32, #sparse_tensor.encoding<{ map = (d0) -> (d0 : compressed) }>>"),
            unknown);
}

TEST_F(TypeSizeTest, UnknownStorage) {
  for (StringRef type : {"tensor<*xf32>", "tensor<?xf32>", "tensor<4x?xf32>", "!stablehlo.token",
                         "!llvm.ptr", "tensor<4x!mine.opaque>", "tensor<4611686018427387904xf32>",
                         "tensor<4611686018427387904x4611686018427387904xi8>"})
    EXPECT_EQ(storage(type), unknown) << type.str();
}

TEST_F(TypeSizeTest, SizesFollowTheDataLayout) {
  setLayout(R"(module attributes {dlti.dl_spec = #dlti.dl_spec<index = 32>} {})");
  EXPECT_EQ(element("index"), 4);
  EXPECT_EQ(storage("tensor<3xindex>"), 12);
}
