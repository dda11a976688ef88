#!/usr/bin/env bash
# SPDX-License-Identifier: ISC
# Goal: bad input gives a sentence, its exit code, and no damage.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

# wrong CODE TEXT COMMAND...: exits so, and says so in one sentence on standard
# error, with nothing on standard output
wrong() {
	local want=$1 text=$2 out rc err=$E2E_TMP/err.txt
	shift 2
	out=$("$@" 2>"$err")
	rc=$?
	if [ "$rc" -ne "$want" ]; then
		fail "$*" "exit $rc instead of $want: $(head -n 3 "$err")"
	elif [ -n "$out" ]; then
		fail "$*" "printed on standard output: $out"
	else
		case "$(cat "$err")" in
		*"$text"*) ok "exit $want, $text: $(printf %q "${*/#$E2E_BIN\//}")" ;;
		*) fail "$*" "no '$text' in: $(cat "$err")" ;;
		esac
	fi
}

tests() {
	local id

	wrong 2 "there is no command" glove rnu
	wrong 2 "perhaps: glove run" glove rnu
	wrong 2 "no flag --jsno" glove ps --jsno
	wrong 2 "perhaps --json" glove ps --jsno
	wrong 2 "other commands have it" glove ps --ttl 3m
	wrong 2 "needs a value" glove ps --home
	wrong 2 "takes no value" glove ps --json=1
	wrong 2 "not a time" glove run --ttl 5 -- true
	wrong 2 "something is missing" glove run
	wrong 2 "one too many" glove ps x
	wrong 2 "cannot be" glove ps --color pink
	wrong 2 "no completions" glove completion tcsh
	wrong 2 "not the name" glove run --env 1x=1 -- true
	wrong 2 "is not set" glove run --env SURELY_NOT_SET -- true
	wrong 3 "no session has run in this directory" glove show -
	wrong 3 "begins with ses_zzzz" glove show ses_zzzz
	wrong 3 "not an id" glove show '!!'
	wrong 3 "not an id" glove show $'\033[2J'
	wrong 3 "begins with" glove stop ses_zzzzzz
	wrong 2 "" glove expose /no/such/directory
	wrong 125 "" glove run --ro /no/such/directory -- true
	wrong 125 "" env -C / glove run -- true
	wrong 125 "" env -C /etc glove run -- true
	wrong 125 "" env -C "$HOME" glove run -- true
	wrong 77 "" glove expose "$HOME"

	glove run -- true
	id=$(glove ps --all --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["sessions"][0]["exposures"][0])')
	wrong 3 "is wanted here" glove attach "$id"
	same "glove.error/1 id.unknown 3" "$(glove show --json ses_zzzz 2>&1 >/dev/null | python3 -c '
import json, sys
e = json.loads(sys.stdin.read()); assert e["message"] and e["fix"]
print(e["schema"], e["code"], e["exit"])')" "an error as JSON"

	# Among 33 ids two begin with the same of 32 characters.
	for _ in $(seq 33); do glove expose -q --ttl 1m .; done | cut -c1-5 | sort | uniq -d >"$E2E_TMP/twice"
	id=$(head -n 1 "$E2E_TMP/twice")
	wrong 3 "it may be" glove show "$id"
	same "" "$(glove exposures | awk 'NR > 1 { print $1 }' | sort | uniq -d)" "short ids are unique"
	check "revoke --all" glove revoke --all --now
	# A user whom the system does not know, without HOME.
	local nobody=()
	[ "$(id -u)" -ne 0 ] || nobody=(setpriv --reuid=61235 --regid=61235 --clear-groups)
	wrong 78 "no home directory" env -u XDG_STATE_HOME -u XDG_CONFIG_HOME HOME=relative "${nobody[@]}" "$E2E_BIN/glove" ps
	check "another home" glove --home "$E2E_TMP/other" ps
	check "has its own journal" test -e "$E2E_TMP/other/journal.db"
	glove --home "$E2E_TMP/other" daemon stop --now

	# A state directory that cannot be written.
	mkdir -m 500 "$E2E_TMP/ro"
	if [ "$(id -u)" -ne 0 ]; then
		wrong 78 "" env XDG_STATE_HOME="$E2E_TMP/ro" glove ps
	else
		skip "a read-only state directory" "root may write anywhere"
	fi
	chmod 700 "$E2E_TMP/ro"
	mkdir -m 777 "$E2E_TMP/open" && chmod 777 "$E2E_TMP/open"
	exits 78 "a state directory that others may write" glove --home "$E2E_TMP/open" ps

	# Another journal in the place of ours.
	glove daemon stop --now
	rm -rf "$XDG_STATE_HOME/glove"
	wrong 7 "another root key" glove ps
	says "glove key pin" "the way out is named" glove ps
	check "which is to pin it" glove key pin "$(glove ps 2>&1 | sed -n 's/.*glove key pin \(glove.*\)/\1/p')"
	check "then it works" glove ps
	says "" "nothing hangs on a closed output" bash -c 'glove log --all | head -n 1'
	exits 71 "a full output is an error" bash -c 'glove help >/dev/full'
}

e2e_main "$@"
