#!/usr/bin/env python3
"""Assembles the kernels of training steps with ptxas, and says what they need.

  assemble.py [--tool remat-opt] [--chips sm_80,sm_90,sm_100,sm_120] [--toolkit FOLDER] STEP.mlir...

Prints a row for each step and chip: kernels, launches and library calls; the most registers of a
kernel, the most shared memory, and spilled bytes. Wrong is a step that is not lowered, a kernel that
ptxas refuses, and one that spills.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile


def unescape(text):
    """The bytes of an MLIR string."""
    def byte(match):
        escaped = match[1]
        return escaped if escaped in b'\\"' else bytes([int(escaped, 16)])
    return re.sub(rb'\\([0-9A-Fa-f]{2}|[\\"])', byte, text)


def assemble(arguments, path, chip, folder):
    """The numbers of a row, or what is wrong."""
    process = subprocess.run(
        [arguments.tool, path,
         f"--remat-gpu-pipeline=chip={chip} format=isa toolkit={arguments.toolkit} effort=0"],
        capture_output=True, check=False)
    if process.returncode != 0:
        return process.stderr.decode(errors="replace").strip()[:300]
    module = process.stdout
    text = re.search(rb'assembly = "((?:[^"\\]|\\.)*)"', module)
    if not text:
        return "there are no kernels"
    ptx = os.path.join(folder, "kernels.ptx")
    with open(ptx, "wb") as file:
        file.write(unescape(text[1]).rstrip(b"\0"))
    ptxas = os.path.join(arguments.toolkit, "bin", "ptxas")
    process = subprocess.run([ptxas, f"-arch={chip}", "-v", ptx, "-o", os.devnull],
                             capture_output=True, text=True, check=False)
    if process.returncode != 0:
        return process.stderr.strip()[:300]

    def numbers(pattern):
        return [int(number) for number in re.findall(pattern, process.stderr)]
    spilled = sum(numbers(r"(\d+) bytes spill stores")) + sum(numbers(r"(\d+) bytes spill loads"))
    return [len(re.findall("Compiling entry", process.stderr)),
            module.count(b"gpu.launch_func"), len(re.findall(rb"llvm\.call @rematDevice(?:Matmul|Convolution)", module)),
            max(numbers(r"Used (\d+) registers"), default=0),
            max(numbers(r"(\d+) bytes smem"), default=0), spilled]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", default="remat-opt")
    parser.add_argument("--chips", default="sm_80,sm_90,sm_100,sm_120")
    parser.add_argument("--toolkit", default=os.environ.get("CUDA_HOME", "/usr/local/cuda"))
    parser.add_argument("steps", nargs="+")
    arguments = parser.parse_args()
    wrong = 0
    print("| step | chip | kernels | launches | library calls | registers | shared memory, B "
          "| spilled, B |\n| --- | --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for path in arguments.steps:
            name = os.path.basename(path).removesuffix(".mlir")
            for chip in arguments.chips.split(","):
                row = assemble(arguments, path, chip, folder)
                if isinstance(row, str):
                    wrong += 1
                    print(f"| {name} | {chip} | {row} |")
                    continue
                wrong += row[-1] > 0
                print(f"| {name} | {chip} | " + " | ".join(map(str, row)) + " |")
    print(f"{wrong} wrong")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
