# shellcheck shell=bash
# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What the scripts in this folder share; sourced, not run.

REMAT_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
LLVM_VERSION=22
# Python packages of the tests.
REMAT_VENV=$REMAT_ROOT/.venv

say() { printf '\n== %s\n' "$*"; }
die() { printf '%s: error: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

# The usage: the comment at the head of the script that was started, behind the licence.
usage() { sed -n '5,/^$/ { s/^# \{0,1\}//; p }' "$0"; }

# Prints a command to standard error, as one would type it, then runs it.
show() {
  local word line='$'
  for word; do
    case $word in *[!A-Za-z0-9_./=,:%-]*) word="'$word'" ;; esac
    line+=" $word"
  done
  echo "$line" >&2
  "$@"
}

# The tool of this LLVM release; several may be installed.
llvm_tool() {
  local name=$1 path
  if path=$(command -v "$name-$LLVM_VERSION"); then
    echo "$path"
    return
  fi
  path=$("llvm-config-$LLVM_VERSION" --bindir 2>/dev/null)/$name
  [ -x "$path" ] || die "'$name' of LLVM $LLVM_VERSION not found; run tools/dev/setup.sh"
  echo "$path"
}

# Where build.sh builds with this option, --default if none.
build_directory() {
  case $1 in
  --default) echo "$REMAT_ROOT/build" ;;
  --clang) echo "$REMAT_ROOT/build-clang" ;;
  --sanitize) echo "$REMAT_ROOT/build-asan" ;;
  *) die "unknown option '$1'" ;;
  esac
}

# All C and C++ files of the project, sorted, relative to its root.
cxx_files() {
  (cd "$REMAT_ROOT" &&
    find include lib tools test -name '*.h' -o -name '*.c' -o -name '*.cpp' | LC_ALL=C sort)
}
