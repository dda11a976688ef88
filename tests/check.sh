#!/usr/bin/env bash
# SPDX-License-Identifier: ISC
# check.sh - every test, in the order in which a fault is cheapest to read; the
# last line sums them all up.  Run by `make check`; GLOVE_LONG=1 for the rest.
set -u
cd "$(dirname "$0")/.." || exit 1
jobs=$(nproc)
sum=$(mktemp)
trap 'rm -f "$sum"' EXIT
bad=0

step() {	# NAME COMMAND...: a step without a count of its own
	printf '== %s\n' "$1"
	shift
	"$@" || { echo "FAILED: $*"; bad=$((bad + 1)); }
}

counted() {	# NAME COMMAND...: a step that ends with "N passed, ..."
	local rc
	printf '== %s\n' "$1"
	shift
	"$@" 2>&1 | tee >(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' | tail -n 1 >>"$sum")
	rc=${PIPESTATUS[0]}
	[ "$rc" -eq 0 ] || bad=$((bad + 1))
	sleep 0.2	# the tee writes its line
}

make=(make -s "-j$jobs")
step    "build, gcc"               "${make[@]}" all
step    "headers stand alone"      "${make[@]}" headers
step    "layers"                   "${make[@]}" layers
step    "scripts and pages"        "${make[@]}" lint
step    "build, clang"             "${make[@]}" CC=clang all
counted "unit tests"               "${make[@]}" unit
counted "crash tests"              "${make[@]}" FI=1 unit
counted "end to end"               "${make[@]}" e2e
counted "unit and crash tests, ASan and UBSan" "${make[@]}" SAN=address,undefined FI=1 unit
counted "end to end, ASan and UBSan" "${make[@]}" SAN=address,undefined e2e
if [ -n "${GLOVE_LONG-}" ]; then
	step "static analysis" "${make[@]}" analyze
	step "fuzzing" "${make[@]}" fuzz T=60
fi
awk -v bad="$bad" '{ p += $1; f += $3; s += $5 }
	END { if (bad > 0 && f == 0) f = bad
	      printf "%d passed, %d failed, %d skipped\n", p, f, s }' "$sum"
[ "$bad" -eq 0 ]
