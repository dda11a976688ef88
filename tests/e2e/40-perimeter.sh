#!/usr/bin/env bash
# SPDX-License-Identifier: ISC
# Goal: from inside, nothing in perimeter.def works, in ro and in staged mode.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

hostthings() {
	mkfifo "$E2E_TMP/hold"
	python3 "$E2E_BIN/e2e/hostthings.py" "$PWD" "$E2E_TMP" <"$E2E_TMP/hold" >"$E2E_TMP/things" &
	things=$!
	exec 8>"$E2E_TMP/hold"
	waits 10 grep -q ready "$E2E_TMP/things"
}

tests() {
	local line out mode
	if ! cc -std=c11 -D_GNU_SOURCE -O1 -o "$E2E_TMP/ws/perimeter" "$E2E_BIN/e2e/perimeter.c" 2>"$E2E_TMP/cc"; then
		fail "the probe compiles" "$(tail -n 3 "$E2E_TMP/cc")"
		return
	fi
	mkdir -m 700 "$HOME/.ssh"
	echo secret >"$HOME/.ssh/id_test"
	hostthings || { fail "the host's things stand" "$(cat "$E2E_TMP/things")"; return; }
	set -- --env SECRET="$HOME/.ssh/id_test" --env HOSTHOME="$HOME" --env STATE="$XDG_STATE_HOME/glove" \
	    --env LOGKEY="$XDG_STATE_HOME/glove/keys/log.key" --env CONTROL="$XDG_STATE_HOME/glove/run/gloved.sock"
	while read -r line; do
		case "$line" in *=*) set -- "$@" --env "$line" ;; esac
	done <"$E2E_TMP/things"
	for mode in staged ro; do
		out=$(glove run --mode "$mode" "$@" -- ./perimeter 2>&1)
		while read -r line; do
			case "$line" in
			"ok "*) ok "$mode: ${line#ok }" ;;
			"HOLE "*) fail "$mode: ${line#HOLE }" "the perimeter has a hole" ;;
			esac
		done <<<"$out"
		case "$out" in
		*" passed, "*) ;;
		*) fail "$mode: the probe ran to its end" "$(tail -n 5 <<<"$out")" ;;
		esac
	done
	exec 8>&-
	wait "$things"
}

e2e_main "$@"
