#!/usr/bin/env bash
# SPDX-License-Identifier: ISC
# Goal: what is printed: lists, records, JSON with its schema, leases, keys.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

# has SCHEMA NAME COMMAND...: one JSON object with that schema on standard output
has() {
	local want=$1 name=$2 out
	shift 2
	out=$("$@" 2>/dev/null | python3 -c '
import json, sys
lines = sys.stdin.read().splitlines()
assert len(lines) == 1, len(lines)
print(json.loads(lines[0])["schema"])' 2>&1)
	same "$want" "$out" "$name"
}
get() { python3 -c 'import json,sys
v = json.load(sys.stdin)
for k in sys.argv[1].split("."): v = v[int(k)] if k.isdigit() else v[k]
print(v)' "$1"; }

tests() {
	local id exp key

	exits 69 "daemon status does not start one" glove daemon status
	exits 0 "daemon stop when none runs" glove daemon stop
	check "a session" glove run --name first -- sh -c 'echo x >f'
	id=$(glove ps --all --json | get sessions.0.id)
	says "${id:0:8}" "ps --all lists it by a short id" glove ps --all
	says "first: sh -c" "with name and command" glove ps --all --wide
	has glove.sessions/1 "ps --json" glove ps --all --json
	has glove.sessions/1 "ps --json with nothing to list" glove ps --json
	says "$id" "show by the shortest beginning" glove show "${id:0:8}"
	says "$id" "show without the type" glove show "${id:4:6}"
	says "$id" "show the last one here" glove show -
	check "show --json" glove show --json "$id"
	says "gate_open" "show --records" glove show --records "$id"
	says "gate_open" "log of one session" glove log "$id"
	says "genesis" "log --all begins at the beginning" glove log --all
	same "glove.record/1" "$(glove log --json "$id" | head -n 1 | get schema)" "log --json: JSON lines"
	same "ended" "$(glove log --json --kind ended | head -n 1 | get event)" "log --kind"
	exits 2 "log --since with nonsense" glove log --since soon
	says "ended" "log --since" glove log --since 1h
	says "start_intent" "timeline" glove timeline "$id"
	says "exited, exit 0, after " "timeline says it in words" glove timeline "$id"
	says "staged, until " "log too" glove log "$id"
	says "ends_us=" "and every field with --wide" glove log --wide "$id"
	same "" "$(glove timeline "$id" | grep -E '[a-z]_[a-z]+=')" "no names of fields for people"
	says "o" "timeline --ascii" glove timeline --ascii "$id"
	case "$(glove timeline --ascii "$id" | LC_ALL=C tr -d '\0-\177')" in '') ok "is ASCII" ;; *) fail "is ASCII" "" ;; esac
	has glove.timeline/1 "timeline --json" glove timeline --json "$id"

	# log -f sees what happens later.
	glove log -f --json >follow.out 2>/dev/null &
	waits 5 test -s follow.out
	glove run -- true
	if waits 5 grep -q '"event":"gate_open"' follow.out; then ok "log -f follows"; else fail "log -f follows" "$(tail -n 2 follow.out)"; fi
	kill $! 2>/dev/null
	wait $! 2>/dev/null

	mkdir leased && echo in >leased/f
	exp=$(glove expose -q --name L --ttl 1h leased)
	case "$exp" in exp_????????????????) ok "expose -q prints the id" ;; *) fail "expose -q prints the id" "$exp" ;; esac
	says "${exp:0:8}" "exposures lists it" glove exposures
	has glove.exposures/1 "exposures --json" glove exposures --json
	same "in" "$(glove run --expose "$exp" -- cat f)" "run --expose runs in it"
	same "2" "$(glove renew --json --ttl 2h "$exp" | get generation)" "renew gives the next generation"
	exits 75 "renew over the latest end" glove renew --ttl 24h "$exp"
	exits 0 "renew --up-to takes what is left" glove renew --ttl 24h --up-to "$exp"
	exits 75 "renew of another generation" glove renew --expect-gen 1 "$exp"
	exits 2 "four characters are not enough to revoke" glove revoke "${exp:4:4}"
	id=$(glove run --detach --expose "$exp" -- sleep 60)
	check "revoke" glove revoke --now "$exp"
	same "revoked" "$(glove show --json "$id" | get ended_by)" "ends the session on it"
	exits 0 "revoke is idempotent" glove revoke "$exp"
	exits 4 "a revoked lease cannot be renewed" glove renew --ttl 1h "$exp"
	exits 125 "and nothing runs in it" glove run --expose "$exp" -- true
	exits 2 "revoke of nothing" glove revoke
	check "revoke --all" glove revoke --all --now

	says "root" "key ls" glove key ls
	has glove.keys/1 "key ls --json" glove key ls --json
	key=$(glove key export)
	case "$key" in glove/*/root+*) ok "key export prints the root verifier key" ;; *) fail "key export prints the root verifier key" "$key" ;; esac
	check "key pin" glove key pin "$key"
	same "$key" "$(glove key pin)" "key pin lists it"
	has glove.pins/1 "key pin --json" glove key pin --json
	exits 2 "key pin of nonsense" glove key pin nonsense
	id=$(glove key ls --json | get keys.0.id)
	says "$id" "key show" glove key show "$id"
	check "daemon status" glove daemon status
	same "CLEAN NEW" "$(printf 'CLEAN NEW' | grep -o "$(glove daemon status --json | get verdict | tr '[:lower:]' '[:upper:]')" >/dev/null && echo CLEAN NEW)" "its journal was clean or new"
	same "glove.doctor/1 True" "$(glove doctor --json 2>/dev/null | python3 -c 'import json,sys; j = json.load(sys.stdin); print(j["schema"], j["ok"])')" "doctor: a real sandbox works"

	has glove.pins/1 "key pin --json" glove key pin --json
	has glove.dryrun/1 "run -n --json" glove run -n --json -- true
	has glove.dryrun/1 "expose -n --json" glove expose -n --json leased
	has glove.dryrun/1 "daemon stop -n --json" glove daemon stop -n --json

	# The completions of bash, as bash asks for them.
	eval "$(glove completion bash)"
	completes() {	# NAME WANT WORD...
		local name=$1 want=$2
		shift 2
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
		_glove
		case " ${COMPREPLY[*]} " in *" $want "*) ok "$name" ;; *) fail "$name" "${COMPREPLY[*]}" ;; esac
	}
	completes "a command is completed" run glove ru
	completes "a flag is completed" --detach glove run --de
	completes "a value is completed" always glove --color al
	completes "a second word is completed" export glove key e
	for s in bash zsh fish; do check "completion $s" glove completion $s; done
	has glove.help/1 "help --json" glove help --json
	has glove.version/1 "version --json" glove version --json
	says "digraph" "help lifecycle --dot" glove help lifecycle --dot
	exits 0 "run --help" glove run --help
}

e2e_main "$@"
