#!/usr/bin/env bash
# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Configures and builds; warnings are errors.
#
#   build.sh [--clang | --sanitize] [TARGET...]
#
# Builds the targets (default: all, without running tests) in build/ with the default compiler, with
# --clang in build-clang/ with clang 22, with --sanitize in build-asan/ with clang 22, AddressSanitizer,
# UndefinedBehaviorSanitizer and assertions. ccache is used if it is there. The environment variable
# CMAKE_BUILD_PARALLEL_LEVEL limits the number of jobs, REMAT_SHARED_DATA names the folder with public
# instances that some tests read (default: ../shared/data).

set -euo pipefail
source "$(dirname "$0")/common.sh"

case ${1:-} in
-h | --help) usage; exit ;;
-*) configuration=$1; shift ;;
*) configuration=--default ;;
esac
directory=$(build_directory "$configuration")
options=(-DCMAKE_BUILD_TYPE=Release -DREMAT_ENABLE_WERROR=ON)
[ -z "${REMAT_SHARED_DATA:-}" ] || options+=("-DREMAT_SHARED_DATA=$(realpath -m "$REMAT_SHARED_DATA")")
[ ! -x "$REMAT_VENV/bin/python" ] || options+=("-DPython3_EXECUTABLE=$REMAT_VENV/bin/python")
[ "$configuration" = --default ] ||
  options+=("-DCMAKE_C_COMPILER=$(llvm_tool clang)" "-DCMAKE_CXX_COMPILER=$(llvm_tool clang++)")
[ "$configuration" != --sanitize ] ||
  options+=(-DREMAT_ENABLE_SANITIZERS=ON -DREMAT_ENABLE_ASSERTIONS=ON)

# Messages of the configuration are of interest only when it fails, and then on standard error.
cmake -S "$REMAT_ROOT" -B "$directory" -G Ninja "${options[@]}" >/dev/null
cmake --build "$directory" --target "${@:-all}"
