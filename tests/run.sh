#!/usr/bin/env bash
# SPDX-License-Identifier: ISC
# run.sh PROGRAM... - run test programs and scripts, sum up what they say.
#
# A cmocka program says "[       OK ] name"; a script ends with one line
# "N passed, N failed, N skipped".  The last line of this one is the sum.
set -u
passed=0 failed=0 skipped=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

for t in "$@"; do
	start=$(date +%s)
	timeout -k 10 "${TEST_TIMEOUT:-900}" "$t" >"$log" 2>&1
	rc=$?
	p=0 f=0 s=0
	if grep -q '^\[==========\]' "$log"; then
		p=$(grep -c '^\[       OK \]' "$log")
		f=$(grep -cE '^\[  (FAILED|ERROR) *\] [a-z]' "$log")
		s=$(grep -c '^\[  SKIPPED \] [a-z]' "$log")
		[ "$f" -gt 0 ] && f=$(grep -E '^\[  (FAILED|ERROR) *\] [a-z]' "$log" | sort -u | wc -l)
		[ "$s" -gt 0 ] && s=$(grep -E '^\[  SKIPPED \] [a-z]' "$log" | sort -u | wc -l)
	elif line=$(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$log" | tail -n 1) && [ -n "$line" ]; then
		read -r p _ f _ s _ <<<"$line"
	fi
	# A crash, a leak report or a time-out counts, whatever was printed.
	if [ "$rc" -ne 0 ] && [ "$f" -eq 0 ]; then f=1; fi
	if [ "$rc" -eq 0 ] && [ $((p + f + s)) -eq 0 ]; then
		echo "$t: ran no test" >>"$log"
		f=1
	fi
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	printf '%-44s %4d passed %3d failed %3d skipped  %ss\n' "${t#build/}" \
	    "$p" "$f" "$s" "$(($(date +%s) - start))"
	grep -E '^SKIP' "$log" | sort -u | sed 's/^/    /'
	if [ "$f" -gt 0 ]; then
		echo "---- $t: exit $rc; the last 60 lines:"
		tail -n 60 "$log"
		echo "----"
	fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
