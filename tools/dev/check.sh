#!/usr/bin/env bash
# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Sets up, builds and runs every check; the last line is `N passed, N failed`.
#
#   check.sh [--clang | --sanitize]
#
# The checks: everything compiles without warnings, all lit and GoogleTest tests pass, the C++ files
# are formatted, the generated pages of the documentation are fresh, and the recount of peaks gives
# the known answers for its own cases. With --clang, clang 22 compiles instead of the default
# compiler; with --sanitize, clang 22 with AddressSanitizer, UndefinedBehaviorSanitizer and
# assertions.

set -euo pipefail
source "$(dirname "$0")/common.sh"

groups=(test)
configuration=()
case ${1:-} in
-h | --help) usage; exit ;;
--clang | --sanitize) configuration=("$1"); groups+=(clang) ;;
'') ;;
*) die "unknown option '$1'" ;;
esac
directory=$(build_directory "${1:---default}")
"$REMAT_ROOT"/tools/dev/setup.sh "${groups[@]}"

passed=0 failed=0 skipped=0

# check NAME COMMAND...: one check; it passes when the command succeeds.
check() {
  say "$1"
  if "${@:2}"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $1"
    return 1
  fi
}

# Runs all tests and adds what lit says about each of them; no answer is one failure.
run_tests() {
  say "tests"
  local results counts
  results=$(mktemp)
  "$(llvm_tool lit)" -sv --output="$results" "$directory/test" "$directory/test/unit" || true
  counts=$(python3 -c '
import json, sys
with open(sys.argv[1]) as file:
    codes = [test["code"] for test in json.load(file)["tests"]]
passed = sum(code in ("PASS", "FLAKYPASS", "XFAIL") for code in codes)
skipped = codes.count("UNSUPPORTED")
print(passed, len(codes) - passed - skipped, skipped)' "$results") || counts="0 1 0"
  rm "$results"
  read -r -a counts <<<"$counts"
  passed=$((passed + counts[0])) failed=$((failed + counts[1])) skipped=$((skipped + counts[2]))
}

if check "build" "$REMAT_ROOT"/tools/dev/build.sh "${configuration[@]}" all RematUnitTests RematFuzz; then
  run_tests
fi
check "format" "$REMAT_ROOT"/tools/dev/format.sh --check || true
check "generated documentation" "$REMAT_ROOT"/tools/dev/docs.sh --check || true
check "recount of known peaks" \
  python3 "$REMAT_ROOT"/test/integration/recount.py --selftest || true

say "result"
[ "$skipped" = 0 ] || echo "$skipped skipped, for the reasons above"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
