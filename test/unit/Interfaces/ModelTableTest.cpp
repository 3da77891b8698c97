//===- ModelTableTest.cpp - Models files ------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InterfacesTestUtils.h"

#include "mlir/AsmParser/AsmParser.h"

using namespace mlir;
using namespace mlir::remat;
using namespace mlir::remat::test;

/// The error that reading `text` gives.
static std::string getError(StringRef text) {
  ModelTable table;
  llvm::Error error = table.parse(text, "m.json");
  return error ? llvm::toString(std::move(error)) : "none";
}

static std::string getOperationError(StringRef keys) {
  return getError(("{\"operations\": [{\"names\": [\"mine.op\"], " + keys + "}]}").str());
}

TEST(ModelTableTest, BuiltinTable) {
  const ModelTable &table = ModelTable::getBuiltin();
  EXPECT_TRUE(table.describesDialect("stablehlo"));
  EXPECT_TRUE(table.describesDialect("chlo"));
  EXPECT_FALSE(table.describesDialect("mine"));
  EXPECT_EQ(table.getBarrierName("stablehlo"), "stablehlo.optimization_barrier");
  EXPECT_EQ(table.getBarrierName("chlo"), "");
}

TEST(ModelTableTest, LaterEntriesReplaceEarlierOnes) {
  ModelTable table = ModelTable::createBuiltin();
  llvm::cantFail(table.parse(R"json({"operations": [
    {"names": ["stablehlo.add", "mine.add"], "effects": "reads"},
    {"names": ["mine.add"], "effects": "pure", "flops": 5}]})json",
                             "m.json"));
  ParsedModule parsed(R"(
    %a = "mine.arg"() : () -> tensor<4xf32>
    %0 = "stablehlo.add"(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %1 = "stablehlo.abs"(%a) : (tensor<4xf32>) -> tensor<4xf32>
    %2 = "mine.add"(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>)");
  EXPECT_EQ(table.lookup(parsed.find("stablehlo.add"))->effects, EffectKind::Reads);
  EXPECT_EQ(table.lookup(parsed.find("stablehlo.add"))->whyNot, "reads state that may change");
  EXPECT_EQ(table.lookup(parsed.find("stablehlo.abs"))->effects, EffectKind::Pure);
  std::optional<OperationModel> add = table.lookup(parsed.find("mine.add"));
  EXPECT_EQ(add->effects, EffectKind::Pure);
  EXPECT_EQ(add->flops, 5);
  // One operand, read once, and the result.
  EXPECT_EQ(add->bytesMoved, 32);
  EXPECT_FALSE(table.lookup(parsed.find("mine.arg")));
  EXPECT_TRUE(table.describesDialect("mine"));
}

TEST(ModelTableTest, FormulasWithoutValueLeaveTheRest) {
  ModelTable table;
  llvm::cantFail(table.parse(R"json({"operations": [
    {"names": ["mine.op"], "effects": "pure", "flops": "elements(operand 0)", "trip_count": "integer('n')",
     "workspace": "bytes(operand 0)", "storage": [{"result": 0, "kind": "reuse", "operand": 0}]}]})json",
                             "m.json"));
  ParsedModule parsed(R"(
    %a = "mine.arg"() : () -> tensor<?xf32>
    %0 = "mine.op"(%a) : (tensor<?xf32>) -> tensor<4xf32>)");
  std::optional<OperationModel> model = table.lookup(parsed.find("mine.op"));
  ASSERT_TRUE(model);
  EXPECT_TRUE(model->isPure());
  EXPECT_FALSE(model->costIsKnown);
  EXPECT_EQ(model->flops, 0);
  EXPECT_EQ(model->bytesMoved, 0);
  EXPECT_EQ(model->workspaceBytes, 0);
  EXPECT_FALSE(model->tripCount);
  ASSERT_EQ(model->storage.size(), 1u);
  EXPECT_EQ(model->storage[0].kind, ResultStorage::Kind::Reuse);
}

TEST(ModelTableTest, Conditions) {
  ModelTable table;
  llvm::cantFail(table.parse(R"json({"operations": [
    {"names": ["mine.op"], "effects": "pure", "flops": 7, "when": [
      {"attribute": "mode", "equals": "fast", "flops": 1},
      {"attribute": "level", "equals": 3, "default": 3, "effects": "ordered", "why_not": "is deep"},
      {"attribute": "kind", "equals": "kind<odd>", "effects": "reads"}]}]})json",
                             "m.json"));
  auto lookup = [&](StringRef attributes) {
    ParsedModule parsed(("\"mine.op\"() <{" + attributes + "}> : () -> ()").str());
    return *table.lookup(parsed.find("mine.op"));
  };
  EXPECT_EQ(lookup("mode = \"fast\", level = 3").flops, 1); // The first that holds.
  EXPECT_EQ(lookup("mode = \"slow\", level = 2").flops, 7);
  EXPECT_EQ(lookup("level = 3").whyNot, "is deep");
  EXPECT_EQ(lookup("mode = \"slow\"").whyNot, "is deep"); // By default.
  EXPECT_EQ(lookup("level = 2, kind = #mine.kind<odd>").effects, EffectKind::Reads);
  EXPECT_EQ(lookup("level = 2, kind = #mine.kind<even>").effects, EffectKind::Pure);
}

TEST(ModelTableTest, Types) {
  ModelTable table;
  llvm::cantFail(table.parse(
      R"json({"types": {"mine.token": {"bytes": 0}, "mine.handle": {"bytes": 16}, "mine.blob": {"bytes": null}}})json",
      "m.json"));
  MLIRContext context;
  context.allowUnregisteredDialects();
  auto bytes = [&](StringRef text) { return table.getTypeBytes(parseType(text, &context)); };
  EXPECT_EQ(bytes("!mine.token"), 0);
  EXPECT_EQ(bytes("!mine.handle<4, f32>"), 16);
  EXPECT_EQ(bytes("!mine.blob"), std::nullopt);
  EXPECT_EQ(bytes("!mine.other"), std::nullopt);
  EXPECT_EQ(bytes("tensor<4xf32>"), std::nullopt);
  EXPECT_TRUE(table.describesDialect("mine"));
}

TEST(ModelTableTest, SplatConstants) {
  const ModelTable &table = ModelTable::getBuiltin();
  ParsedModule parsed(R"(
    %0 = "stablehlo.constant"() <{value = dense<1.0> : tensor<4xf32>}> : () -> tensor<4xf32>
    "mine.a"(%0) : (tensor<4xf32>) -> ()
    %1 = "stablehlo.constant"() <{value = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
    "mine.b"(%1) : (tensor<2xf32>) -> ()
    %2 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<2xf32>
    "mine.c"(%2) : (tensor<2xf32>) -> ())");
  EXPECT_TRUE(table.isSplatConstant(parsed.find("mine.a")->getOperand(0)));
  EXPECT_FALSE(table.isSplatConstant(parsed.find("mine.b")->getOperand(0)));
  EXPECT_FALSE(table.isSplatConstant(parsed.find("mine.c")->getOperand(0)));
}

TEST(ModelTableTest, EqualConstantsAreOneDatum) {
  const ModelTable &table = ModelTable::getBuiltin();
  ParsedModule parsed(R"(
    %0 = "stablehlo.constant"() <{value = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
    %1 = "stablehlo.constant"() <{value = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
    %2 = "stablehlo.constant"() <{value = dense<[1.0, 3.0]> : tensor<2xf32>}> : () -> tensor<2xf32>)");
  SmallVector<const void *> data;
  for (Operation &op : *parsed.module->getBody())
    data.push_back(table.lookup(&op)->storage[0].data);
  EXPECT_EQ(data[0], data[1]);
  EXPECT_NE(data[0], data[2]);
}

TEST(ModelTableTest, ErrorsOfTheFile) {
  EXPECT_EQ(getError("{"), "models file 'm.json': not JSON: [1:1, byte=1]: Expected object key");
  EXPECT_EQ(getError("{\n  \"operations\": [}\n"),
            "models file 'm.json': not JSON: [2:18, byte=20]: Invalid JSON value");
  EXPECT_EQ(getError("[]"), "models file 'm.json': expected an object, but got an array");
  EXPECT_EQ(getError("{\"version\": 2}"), "models file 'm.json': expected 'version' to be 1");
  EXPECT_EQ(getError("{\"ops\": []}"), "models file 'm.json': unknown key 'ops', expected "
                                       "'comment', 'operations', 'types' or 'version'");
  EXPECT_EQ(getError("{\"operations\": {}}"),
            "models file 'm.json': expected 'operations' to be an array, but got an object");
  EXPECT_EQ(getError("{\"operations\": [3]}"),
            "models file 'm.json': operations[0]: expected an object, but got a number");
  EXPECT_EQ(getError("{\"operations\": [{\"effects\": \"pure\"}]}"),
            "models file 'm.json': operations[0]: expected 'names' to be an array of names of "
            "operations");
  EXPECT_EQ(getError("{\"operations\": [{\"names\": [\"add\"]}]}"),
            "models file 'm.json': operations[0]: expected 'names' to hold names with a dialect, "
            "like 'mine.add'");
  EXPECT_EQ(getError("{\"types\": {\"mine.t\": {\"bytes\": -1}}}"),
            "models file 'm.json': type 'mine.t': expected 'bytes' to be null or an integer, at "
            "least 0");
  EXPECT_EQ(getError("{\"types\": {\"mine.t\": {\"size\": 1}}}"),
            "models file 'm.json': type 'mine.t': unknown key 'size', expected 'bytes'");
}

TEST(ModelTableTest, ErrorsOfOperations) {
  const std::string prefix = "models file 'm.json': operations[0] ('mine.op'): ";
  EXPECT_EQ(getOperationError("\"flops\": 1"), prefix + "expected the key 'effects'");
  EXPECT_EQ(getOperationError("\"effects\": \"pur\""),
            prefix + "expected 'effects' to be 'pure', 'reads' or 'ordered', but got 'pur'");
  EXPECT_EQ(getOperationError("\"effects\": 1"),
            prefix + "expected 'effects' to be 'pure', 'reads' or 'ordered', but got a number");
  EXPECT_EQ(getOperationError("\"effects\": \"pure\", \"flop\": 1"), prefix + "unknown key 'flop'");
  EXPECT_EQ(getOperationError("\"effects\": \"pure\", \"recursive\": 1"),
            prefix + "expected 'recursive' to be a boolean, but got a number");
  EXPECT_EQ(getOperationError("\"effects\": \"pure\", \"flops\": \"2 * elemnts(operand 0)\""),
            prefix + "'flops': column 5: unknown function 'elemnts'");
  EXPECT_EQ(getOperationError("\"effects\": \"pure\", \"bytes\": -1"),
            prefix + "expected 'bytes' to be at least 0");
  EXPECT_EQ(getOperationError("\"effects\": \"pure\", \"bytes\": []"),
            prefix + "expected 'bytes' to be a formula or an integer, but got an array");
  EXPECT_EQ(getOperationError("\"effects\": \"pure\", \"cost\": \"cheap\""),
            prefix + "expected 'cost' to be 'elementwise', 'data_movement', 'none', 'unknown' or "
                     "an object");
  EXPECT_EQ(getOperationError("\"effects\": \"pure\", \"cost\": {\"weight\": 1}"),
            prefix + "expected 'cost' to be an object with an integer 'elementwise', at least 0");
  EXPECT_EQ(getOperationError("\"effects\": \"pure\", \"storage\": [{\"kind\": \"alias\"}]"),
            prefix + "expected 'kind' of 'storage' to be 'view', 'reuse', 'none', 'constant' or "
                     "'contiguous_slice'");
  EXPECT_EQ(getOperationError("\"effects\": \"pure\", \"storage\": [{\"kind\": \"constant\"}]"),
            prefix + "expected 'attribute' beside 'kind' 'constant' in 'storage'");
  EXPECT_EQ(
      getOperationError("\"effects\": \"pure\", \"storage\": [{\"kind\": \"view\", \"to\": 1}]"),
      prefix + "unknown key 'to' in 'storage'");
  EXPECT_EQ(getOperationError(
                "\"effects\": \"pure\", \"storage\": [{\"kind\": \"view\", \"operand\": -1}]"),
            prefix + "expected 'operand' of 'storage' to be a number or 'same'");
  EXPECT_EQ(getOperationError("\"effects\": \"pure\", \"unread\": [true]"),
            prefix + "expected 'unread' to be an array of operand numbers");
  EXPECT_EQ(getOperationError("\"effects\": \"pure\", \"flops_type\": \"operand\""),
            prefix + "expected 'flops_type' to be 'operand N' or 'result N'");
  EXPECT_EQ(getOperationError("\"effects\": \"pure\", \"when\": [{\"attribute\": \"a\"}]"),
            prefix + "expected 'when' to hold 'attribute' (a string) and 'equals' (a boolean, an "
                     "integer or a string, as 'default' is)");
  EXPECT_EQ(getOperationError("\"effects\": \"pure\", \"when\": [{\"attribute\": \"a\", "
                              "\"equals\": 1, \"names\": [], \"barrier\": true}]"),
            prefix + "unknown key 'barrier'");
}

TEST(ModelTableTest, WrongFilesChangeNothing) {
  ModelTable table;
  llvm::Error error = table.parse(
      R"json({"types": {"mine.t": {"bytes": 4}}, "operations": [{"names": ["mine.a"], "effects": "pure"}, 3]})json",
      "m.json");
  EXPECT_TRUE(bool(error));
  llvm::consumeError(std::move(error));
  EXPECT_FALSE(table.describesDialect("mine"));
  ParsedModule parsed("\"mine.a\"() : () -> ()");
  EXPECT_FALSE(table.lookup(parsed.find("mine.a")));
}

TEST(ModelTableTest, MissingFile) {
  ModelTable table;
  EXPECT_EQ(llvm::toString(table.parseFile("/no/such/file.json")),
            "cannot read models file '/no/such/file.json': No such file or directory");
}
