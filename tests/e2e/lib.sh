# SPDX-License-Identifier: ISC
# shellcheck shell=bash
# lib.sh - what the scripts of this folder share.  A script defines tests() and
# ends with
#	e2e_main "$@"	runs tests() in a private home; as root it does so twice,
#			the second time as an ordinary user
#	e2e_once "$@"	only as who we are
# The last line is "N passed, N failed, N skipped".  Nothing is left behind.
set -u
E2E_TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
GLOVE_BIN=${GLOVE_BIN:-$E2E_TOP/build/plain}
E2E_UID=${E2E_UID:-61234}
passed=0 failed=0 skipped=0

ok()   { passed=$((passed + 1)); printf 'ok   %s\n' "$1"; }
fail() { failed=$((failed + 1)); printf 'FAIL %s: %s\n' "$1" "${2-}"; }
skip() { skipped=$((skipped + 1)); printf 'SKIP %s: %s\n' "$1" "$2"; }

# check NAME COMMAND...: it exits 0
check() {
	local name=$1 out
	shift
	if out=$("$@" 2>&1); then ok "$name"; else fail "$name" "exit $?: $(tail -n 5 <<<"$out")"; fi
}

# exits CODE NAME COMMAND...: it exits with exactly that
exits() {
	local want=$1 name=$2 out rc
	shift 2
	out=$("$@" 2>&1)
	rc=$?
	if [ "$rc" -eq "$want" ]; then ok "$name"; else fail "$name" "exit $rc instead of $want: $(tail -n 5 <<<"$out")"; fi
}

# says TEXT NAME COMMAND...: its output (both streams) has TEXT in it
says() {
	local want=$1 name=$2 out
	shift 2
	out=$("$@" 2>&1)
	case "$out" in
	*"$want"*) ok "$name" ;;
	*) fail "$name" "no '$want' in: $(tail -n 5 <<<"$out")" ;;
	esac
}

# same WANT GOT NAME
same() {
	if [ "$1" = "$2" ]; then ok "$3"; else fail "$3" "wanted '$1', got '$2'"; fi
}

# waits SECONDS COMMAND...: until it succeeds
waits() {
	local end=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.05
	done
}

e2e_home() {
	E2E_TMP=$(mktemp -d "${TMPDIR:-/tmp}/glove-e2e.XXXXXX")
	export E2E_TMP HOME=$E2E_TMP/home XDG_STATE_HOME=$E2E_TMP/state
	export XDG_CONFIG_HOME=$E2E_TMP/config XDG_RUNTIME_DIR=$E2E_TMP/run
	unset GLOVE_HOME NO_COLOR CLICOLOR_FORCE
	mkdir -m 700 "$HOME" "$XDG_STATE_HOME" "$XDG_CONFIG_HOME" "$XDG_RUNTIME_DIR"
	mkdir "$E2E_TMP/ws"
	export GIT_CONFIG_NOSYSTEM=1
	git config --global user.name "Test Person"
	git config --global user.email test@example.invalid
	git config --global init.defaultBranch main
	cd "$E2E_TMP/ws" || exit 1
}

# Ends the private gloved and waits for it; then nothing of ours may be left.
e2e_end() {
	glove daemon stop --now >/dev/null 2>&1
	waits 10 e2e_quiet || fail "nothing of it still runs" "$(e2e_left)"
	cd /
	chmod -R u+rwX "$E2E_TMP" 2>/dev/null
	rm -rf "$E2E_TMP"
	[ ! -e "$E2E_TMP" ] || fail "the test's directory can be removed" "$E2E_TMP"
}

# Processes that run a program of this test's own copy.
e2e_left() {
	local p exe
	for p in /proc/[0-9]*; do
		exe=$(readlink "$p/exe" 2>/dev/null) || continue
		case "$exe" in
		"$E2E_BIN"/glove*) printf '%s %s\n' "${p#/proc/}" "$(tr '\0' ' ' <"$p/cmdline" 2>/dev/null)" ;;
		esac
	done
}
e2e_quiet() { [ -z "$(e2e_left)" ]; }

e2e_body() {
	e2e_home
	trap 'e2e_end; trap - EXIT' EXIT
	tests
	e2e_end
	trap - EXIT
}

# The programs, where every user can run them.
e2e_bin() {
	[ -n "${E2E_BIN-}" ] && return
	E2E_BIN=$(mktemp -d "${TMPDIR:-/tmp}/glove-bin.XXXXXX")
	chmod 755 "$E2E_BIN"
	export E2E_BIN
	cp "$GLOVE_BIN"/glove "$GLOVE_BIN"/gloved "$GLOVE_BIN"/glove-sandbox "$GLOVE_BIN"/glove-verify "$E2E_BIN"
	cp -r "$E2E_TOP/tests/e2e" "$E2E_BIN/e2e"
	chmod -R a+rX "$E2E_BIN"
	E2E_OWN_BIN=1
}

e2e_once() {
	e2e_bin
	export PATH=$E2E_BIN:$PATH
	e2e_body
	if [ -n "${E2E_OWN_BIN-}" ]; then rm -rf "$E2E_BIN"; fi
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" -eq 0 ]
}

e2e_main() {
	local sum p f s
	e2e_bin
	if [ "$(id -u)" -ne 0 ]; then
		e2e_once "$@"
		return
	fi
	printf -- '-- as an ordinary user\n'
	sum=$(mktemp)
	chmod 666 "$sum"
	(cd / && setpriv --reuid="$E2E_UID" --regid="$E2E_UID" --clear-groups \
	    env -u E2E_OWN_BIN GLOVE_BIN="$E2E_BIN" E2E_BIN="$E2E_BIN" E2E_UID="$E2E_UID" \
	    bash "$E2E_BIN/e2e/$(basename "$0")" "$@") | tee "$sum"
	read -r p _ f _ s _ < <(grep -E '^[0-9]+ passed, ' "$sum" | tail -n 1)
	rm -f "$sum"
	passed=$((passed + ${p:-0})) failed=$((failed + ${f:-1})) skipped=$((skipped + ${s:-0}))
	printf -- '-- as root\n'
	e2e_once "$@"
}
