//===- RematOpInterface.td - What a planner asks of an operation -*- tablegen -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===---------------------------------------------------------------------------===//

#ifndef REMAT_INTERFACES_REMATOPINTERFACE_TD
#define REMAT_INTERFACES_REMATOPINTERFACE_TD

include "mlir/IR/Interfaces.td"

def RematOpInterface : OpInterface<"RematOpInterface"> {
  let description = [{
    Describes an operation to the analyses of this project: may it be executed
    again, what does one execution cost, which results share storage with which
    operands. One method returns all of it as a value, so that an operation
    without the interface can be described by a table instead.
  }];
  let cppNamespace = "::mlir::remat";
  let methods = [
    InterfaceMethod<"Returns the model of this operation.",
      "::mlir::remat::OperationModel", "getOperationModel", (ins)>
  ];
}

#endif // REMAT_INTERFACES_REMATOPINTERFACE_TD
