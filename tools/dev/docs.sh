#!/usr/bin/env bash
# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Generates the parts of the documentation that follow from the sources.
#
#   docs.sh              writes the pages in docs/generated, from the TableGen definitions
#   docs.sh --check      changes nothing, fails when one of these pages is stale
#   docs.sh --examples   writes what the commands in README.md and docs/*.md print, and the pictures,
#                        with the remat-opt in build/bin; the tests check these

set -euo pipefail
source "$(dirname "$0")/common.sh"

# page NAME FILE.td OPTION...: writes $fresh/NAME.md.
page() {
  "$tblgen" -I include -I "$include" "include/Remat/$2" "${@:3}" -o "$fresh/$1.md"
}

generate_pages() {
  local tblgen include
  tblgen=$(llvm_tool mlir-tblgen)
  include=$("llvm-config-$LLVM_VERSION" --includedir)
  page RematDialect Dialect/IR/RematOps.td -gen-dialect-doc -dialect=remat
  page RematPasses Transforms/Passes.td -gen-pass-doc
  page RematConversionPasses Conversion/Passes.td -gen-pass-doc
  page RematPipelinesPasses Pipelines/Passes.td -gen-pass-doc
}

# The picture of docs/python.md, of the training step there.
write_report_picture() {
  local folder
  folder=$(mktemp -d)
  test/integration/generate_training_step.py --layers 4 --width 64 --heads 4 --batch 8 --sequence 64 \
    --vocabulary 256 >"$folder/generated.mlir"
  "$1" "$folder/generated.mlir" --canonicalize --cse -o "$folder/step.mlir"
  PYTHONPATH=python REMAT_BUILD=build python3 -m remat optimize "$folder/step.mlir" --budget=50% \
    --report=docs/images/report.svg -o /dev/null
  rm -r "$folder"
}

write_examples() {
  local examples tool=$REMAT_ROOT/build/bin/remat-opt
  [ -x "$tool" ] || die "there is no $tool; run tools/dev/build.sh"
  mapfile -t examples < <(grep -l '^```\(console\|python cell\)$' README.md docs/*.md)
  for page in "${examples[@]}"; do
    PATH="$REMAT_ROOT/build/bin:$PATH" PYTHONPATH="$REMAT_ROOT/python" REMAT_BUILD="$REMAT_ROOT/build" \
      python3 test/Docs/Inputs/console.py "$page" --update
  done
  python3 tools/dev/picture.py "$tool" >docs/images/memory.svg
  write_report_picture "$tool"
}

cd "$REMAT_ROOT"
pages=docs/generated
fresh=$(mktemp -d)
trap 'rm -r "$fresh"' EXIT
case ${1:-} in
-h | --help) usage ;;
--examples) write_examples ;;
--check)
  generate_pages
  diff -ru "$pages" "$fresh" || die "pages in $pages are stale; run tools/dev/docs.sh"
  ;;
'')
  generate_pages
  mkdir -p "$pages"
  cp "$fresh"/*.md "$pages"
  ;;
*) die "unknown option '$1'" ;;
esac
