#!/usr/bin/env bash
# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Formats all C and C++ files with clang-format 22.
#
#   format.sh            changes the files
#   format.sh --check    changes nothing, fails when a file is not formatted

set -euo pipefail
source "$(dirname "$0")/common.sh"

case ${1:-} in
-h | --help) usage; exit ;;
--check) action=(--dry-run -Werror) ;;
'') action=(-i) ;;
*) die "unknown option '$1'" ;;
esac
formatter=$(llvm_tool clang-format)
cd "$REMAT_ROOT"
cxx_files | xargs "$formatter" --style=file "${action[@]}"
