# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the package says of the rest of the project is true: structs, functions, versions.

RUN: %pytest %s
"""

import ctypes
import os
import pathlib
import re
import subprocess
import sys

import pytest

import remat
from remat import capi, units

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADER = (ROOT / "include/Remat-c/Planner.h").read_text()
STRUCTS = {
    "RematPlanArrays": capi.PlanArrays,
    "RematSimulationArrays": capi.SimulationArrays,
    "RematProgress": capi.Progress,
    "RematSolveOptions": capi.SolveOptions,
    "RematAnswerInfo": capi.AnswerInfo,
    "RematBuffer": capi.Buffer,
}


def test_structs_are_those_of_the_compiler(tmp_path):
    lines = []
    for name, struct in STRUCTS.items():
        lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
        for field, *_ in struct._fields_:
            size = f"sizeof((({name} *)0)->{field})"
            lines.append(f'printf("{name}.{field} %zu %zu\\n", offsetof({name}, {field}), {size});')
    source, program = tmp_path / "layout.c", tmp_path / "layout"
    source.write_text("#include <Remat-c/Planner.h>\n#include <stdio.h>\nint main(void) {\n"
                      + "\n".join(lines) + "\nreturn 0;\n}\n")
    subprocess.run([os.environ["CC"], source, f"-I{ROOT}/include", "-o", program], check=True)
    expected = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    actual = []
    for name, struct in STRUCTS.items():
        actual.append(f"{name} {ctypes.sizeof(struct)}\n")
        for field, *_ in struct._fields_:
            layout = getattr(struct, field)
            actual.append(f"{name}.{field} {layout.offset} {layout.size}\n")
    assert "".join(actual) == expected


def test_functions_have_as_many_parameters_as_in_the_header():
    for name, (_, parameters) in capi._SIGNATURES.items():
        text = HEADER + (ROOT / "include/Remat-c/Support.h").read_text()
        declared = re.search(rf"\b{name}\(([^)]*)\)", text).group(1)
        count = 0 if declared == "void" else declared.count(",") + 1
        assert len(parameters) == count, name


def test_one_version():
    assert capi.library().rematPlannerGetVersion().decode() == remat.__version__
    assert f"project(Remat VERSION {remat.__version__} " in (ROOT / "CMakeLists.txt").read_text()


def test_exports():
    assert sorted(remat.__all__) == remat.__all__
    for name in remat.__all__:
        assert getattr(remat, name) is not None


def test_importing_needs_nothing_but_python():
    code = "import remat, remat.cli, sys; print(*sorted(sys.modules))"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                             env={**os.environ, "REMAT_BUILD": "/nowhere"}).stdout.split()
    assert not {"jax", "numpy", "tqdm", "matplotlib"} & set(modules)


@pytest.mark.parametrize("count, text", [
    (0, "0 B"), (999, "999 B"), (1000, "1.00 KB"), (24885426240, "24.9 GB"), (-1500, "-1.50 KB"),
    (999499, "999 KB"), (999500, "1.00 MB"), (12288, "12.3 KB"), (2**62, "4.61 EB"),
])
def test_bytes_for_people(count, text):
    assert units.format_bytes(count) == text


def test_times_for_people():
    assert [units.format_picoseconds(10**n) for n in (0, 3, 6, 9, 12, 15)] == [
        "1 ps", "1.00 ns", "1.00 us", "1.00 ms", "1.00 s", "1000 s"]


@pytest.mark.parametrize("text, count", [
    ("4GB", 4 * 10**9), ("4.5GiB", 9 << 29), ("1e9 b", 10**9), (" .5kB ", 500), ("1.b", 1),
    ("9223372036854775807B", 2**63 - 1), ("8TiB", 8 << 40),
])
def test_bytes_of_people(text, count):
    assert units.parse_bytes(text) == count
    assert units.resolve_budget(text, 7) == count


@pytest.mark.parametrize("text", ["", "GB", "4", "4XB", "-1B", "1.5B", "9223372036854775808B", "٤GB",
                                  "1e999999B", "4 G B"])
def test_what_is_no_byte_count(text):
    with pytest.raises(remat.InvalidInputError):
        units.parse_bytes(text)


def test_budgets():
    assert units.resolve_budget("80%", 20544) == 16436
    assert units.resolve_budget("0.8x", 20544) == 16436
    assert units.resolve_budget("33.333333%", 3 * 10**8) == 99999999
    assert units.resolve_budget(5, 100) == 5
    for wrong in ("33.3333333%", "0x", "1.2x", "-5%", "%"):
        with pytest.raises(remat.InvalidInputError):
            units.resolve_budget(wrong, 100)
    assert units.overhead_text(0.05) == "5%" or float(units.overhead_text(0.05)[:-1]) == 5
    assert units.resolve_overhead("12.5%", 39) == 4
    assert units.resolve_overhead(1e-7, 10**9) == 100
