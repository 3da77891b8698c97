#!/usr/bin/env bash
# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs clang-tidy 22 with the checks in .clang-tidy, all of them errors.
#
#   tidy.sh [FILE.cpp...]
#
# Without files, all C++ files of the project. Builds first, since headers that TableGen writes are
# included everywhere.

set -euo pipefail
source "$(dirname "$0")/common.sh"

case ${1:-} in -h | --help) usage; exit ;; esac
"$REMAT_ROOT"/tools/dev/setup.sh tidy
tidy=$(llvm_tool clang-tidy)
directory=$(build_directory --default)
"$REMAT_ROOT"/tools/dev/build.sh

files=("$@")
if [ $# = 0 ]; then
  cd "$REMAT_ROOT"
  mapfile -t files < <(cxx_files | grep '\.cpp$' | grep -v /Inputs/)
fi
# The options of g++ that clang does not know are no mistake.
printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "$(nproc)" "$tidy" -p "$directory" --quiet \
  --warnings-as-errors='*' --extra-arg=-Wno-unknown-warning-option
