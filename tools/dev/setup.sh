#!/usr/bin/env bash
# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs the Debian packages that are missing, as root or through sudo, and for the tests some Python
# packages from PyPI, in .venv/ in the project.
#
#   setup.sh [GROUP...]
#
# Groups: build (compiler, CMake, LLVM and MLIR), test (build and what check.sh needs), clang (build
# and clang with its sanitizers), tidy (build and clang-tidy), browser (for the tests of pages, which
# are skipped without it; some minutes); all of them by default. A second run finds everything
# installed and does nothing.

set -euo pipefail
source "$(dirname "$0")/common.sh"

packages() {
  case $1 in
  build)
    echo cmake ninja-build g++ ccache python3 python3-venv libdnnl-dev libgtest-dev libomp-$LLVM_VERSION-dev \
      libopenblas-dev libzip-dev zlib1g-dev \
      llvm-$LLVM_VERSION-dev llvm-$LLVM_VERSION-tools \
      libmlir-$LLVM_VERSION-dev mlir-$LLVM_VERSION-tools
    ;;
  test) packages build; echo clang-format-$LLVM_VERSION ;;
  clang) packages build; echo clang-$LLVM_VERSION libclang-rt-$LLVM_VERSION-dev ;;
  tidy) packages build; echo clang-tidy-$LLVM_VERSION ;;
  browser) echo chromium ;;
  *) die "unknown group '$1': expected build, test, clang, tidy or browser" ;;
  esac
}

is_installed() {
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

case ${1:-} in -h | --help) usage; exit ;; esac
[ $# != 0 ] || set -- test clang tidy browser
wanted=$(for group; do packages "$group"; done)
command -v apt-get >/dev/null && command -v dpkg-query >/dev/null ||
  die "this is not a Debian system; install what corresponds to:" $wanted

install_debian_packages() {
  local missing=() unavailable=() sudo=() package
  for package in $(printf '%s\n' $wanted | LC_ALL=C sort -u); do
    is_installed "$package" || missing+=("$package")
  done
  [ ${#missing[@]} != 0 ] || return 0
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || die "run this as root, or install sudo; missing: ${missing[*]}"
    sudo=(sudo)
  fi
  apt() { "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@"; }

  echo "set-up: installing ${missing[*]}"
  apt update || die "'apt-get update' failed; is there a network?"
  for package in "${missing[@]}"; do
    apt-cache show --no-all-versions "$package" >/dev/null 2>&1 || unavailable+=("$package")
  done
  if [ ${#unavailable[@]} != 0 ]; then
    die "not available from this machine's package sources: ${unavailable[*]}
LLVM $LLVM_VERSION is in Debian 12 with its security updates (suite 'bookworm-security');
/etc/apt/sources.list must name both."
  fi
  apt install -y --no-install-recommends "${missing[@]}" >/dev/null ||
    die "'apt-get install' failed for: ${missing[*]}"
  for package in "${missing[@]}"; do
    is_installed "$package" || die "'$package' is still not installed"
  done
}

# The tests that need them are skipped where they cannot be had.
install_python_packages() {
  local requirements=$REMAT_ROOT/test/requirements.txt
  cmp -s "$requirements" "$REMAT_VENV/requirements.txt" && return
  echo "set-up: installing the packages of test/requirements.txt in .venv"
  python3 -m venv --clear "$REMAT_VENV"
  if "$REMAT_VENV/bin/pip" install -q --disable-pip-version-check -r "$requirements"; then
    cp "$requirements" "$REMAT_VENV/requirements.txt"
  else
    echo "set-up: note: some Python packages are missing; the tests that need them are skipped"
  fi
}

install_debian_packages
case " $* " in *' test '*) install_python_packages ;; esac
echo "set-up: all packages are installed"
