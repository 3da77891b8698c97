#!/usr/bin/env bash
# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Generates the pages in docs/generated from the TableGen definitions.
#
#   docs.sh            writes the pages
#   docs.sh --check    changes nothing, fails when a page is stale

set -euo pipefail
source "$(dirname "$0")/common.sh"

case ${1:-} in -h | --help) usage; exit ;; '' | --check) ;; *) die "unknown option '$1'" ;; esac
tblgen=$(llvm_tool mlir-tblgen)
include=$("llvm-config-$LLVM_VERSION" --includedir)
cd "$REMAT_ROOT"
pages=docs/generated
fresh=$(mktemp -d)
trap 'rm -r "$fresh"' EXIT

# page NAME FILE.td OPTION...
page() {
  "$tblgen" -I include -I "$include" "include/Remat/$2" "${@:3}" -o "$fresh/$1.md"
}
page RematDialect Dialect/IR/RematOps.td -gen-dialect-doc -dialect=remat
page RematPasses Transforms/Passes.td -gen-pass-doc

if [ "${1:-}" = --check ]; then
  diff -ru "$pages" "$fresh" || die "pages in $pages are stale; run tools/dev/docs.sh"
else
  mkdir -p "$pages"
  cp "$fresh"/*.md "$pages"
fi
