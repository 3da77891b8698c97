"""Prints a program that loads a file as a module of kernels: load-module.py FILE"""
import sys

with open(sys.argv[1], "rb") as file:
    content = file.read()
text = "".join(f"\\{byte:02X}" for byte in content)
print(f"""llvm.func @mgpuModuleLoad(!llvm.ptr, i64) -> !llvm.ptr
llvm.mlir.global internal constant @content("{text}") {{alignment = 8 : i64}}
llvm.func @main() {{
  %0 = llvm.mlir.addressof @content : !llvm.ptr
  %1 = llvm.mlir.constant({len(content)} : i64) : i64
  %2 = llvm.call @mgpuModuleLoad(%0, %1) : (!llvm.ptr, i64) -> !llvm.ptr
  llvm.return
}}""")
