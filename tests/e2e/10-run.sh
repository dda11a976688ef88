#!/usr/bin/env bash
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2016 # what stands in single quotes is expanded inside the sandbox
# Goal: glove run is a command like any other: streams, exit codes, signals,
# arguments and environment pass as they are, and nothing else does.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

field() { python3 -c 'import json,sys
v = json.load(sys.stdin)
for k in sys.argv[1].split("."): v = v[int(k)] if k.isdigit() else v[k]
print(json.dumps(v) if isinstance(v, (dict, list, bool)) or v is None else v)' "$1"; }

tests() {
	local out rc id

	same "hello" "$(glove run -- echo hello)" "standard output comes out, and nothing else"
	same "" "$(glove run -- true 2>&1)" "without a terminal it says nothing of its own"
	same "oops" "$(glove run -- sh -c 'echo oops >&2' 2>&1 >/dev/null)" "standard error stays apart"
	same "in" "$(echo in | glove run -- cat)" "standard input goes in and ends"
	same "0" "$(glove run -- sh -c 'cat | wc -c' </dev/null | tr -d ' ')" "an empty standard input ends at once"
	same "0" "$(glove run -- sh -c 'cat | wc -c' <&- | tr -d ' ')" "an absent standard input ends at once"
	exits 0 "exit 0" glove run -- true
	exits 1 "exit 1" glove run -- false
	exits 42 "exit 42" glove run -- sh -c 'exit 42'
	exits 137 "killed inside: 128 + 9" glove run -- sh -c 'kill -9 $$'
	exits 143 "terminated inside: 128 + 15" glove run -- sh -c 'kill -15 $$'
	exits 127 "no such command" glove run -- no-such-command-here
	printf 'x\n' >notexec
	exits 126 "not executable" glove run -- ./notexec
	exits 124 "its time was over" glove run --ttl 1s -- sleep 30
	same "a b|\$x|ä 日本|" "$(glove run -- sh -c 'for a; do printf "%s|" "$a"; done' sh 'a b' '$x' 'ä 日本')" "arguments pass unchanged"
	same "--json -v" "$(glove run echo --json -v)" "flags behind the command are the command's"
	same "--" "$(glove run -- echo --)" "two dashes behind the command too"

	out=$(SECRET_TOKEN=s3cret glove run -- env)
	case "$out" in *s3cret*) fail "the environment stays outside" "$out" ;; *) ok "the environment stays outside" ;; esac
	same "/home/agent agent" "$(glove run -- sh -c 'echo "$HOME $USER"')" "HOME and USER are the sandbox's"
	same "v" "$(glove run --env A=v -- sh -c 'echo "$A"')" "--env NAME=VALUE sets a variable"
	same "w" "$(B=w glove run --env B -- sh -c 'echo "$B"')" "--env NAME takes one over"
	same "$PWD" "$(glove run -- pwd)" "it runs in the current directory"
	mkdir -p sub
	same "$PWD/sub" "$(cd sub && glove run -- pwd)" "or wherever it was started"
	mkdir "$E2E_TMP/lib" && echo shown >"$E2E_TMP/lib/f"
	exits 1 "what is not shown is not there" glove run -- test -e "$E2E_TMP/lib/f"
	same "shown" "$(glove run --ro "$E2E_TMP/lib" -- cat "$E2E_TMP/lib/f")" "--ro shows a directory"
	exits 2 "and only to read" glove run --ro "$E2E_TMP/lib" -- sh -c "echo x >'$E2E_TMP/lib/f'"
	exits 2 "--mode ro: nothing can be written" glove run --mode ro -- sh -c 'echo x >new'
	exits 125 "--mode direct needs what this version has not" glove run --mode direct -- true
	says "approval" "and says so" glove run --mode direct -- true
	same "Test Person" "$(git init -q . && glove run -- git config user.name)" "git inside knows the name"

	# Signals to the client go to the command.
	glove run -- sh -c 'trap "echo got; exit 9" TERM; echo up; while :; do sleep 0.05; done' >sig.out &
	waits 10 grep -q up sig.out || fail "the command is up" "$(cat sig.out)"
	kill -TERM $!
	wait $! 2>/dev/null
	rc=$?
	same "9 got" "$rc $(tail -n 1 sig.out)" "SIGTERM reaches the command, its answer counts"

	# 20 MB and every byte of it.
	same "$(head -c 20000000 /dev/zero | sha256sum)" "$(glove run -- sh -c 'head -c 20000000 /dev/zero' | sha256sum)" "20 MB of output arrive whole"
	same "$(head -c 5000000 /dev/urandom | tee rnd | sha256sum)" "$(glove run -- sha256sum <rnd)" "5 MB of input arrive whole"
	out=$(timeout 20 glove run -- yes | head -n 1)
	same "y" "$out" "a reader that leaves ends it"
	waits 10 sh -c '[ "$(glove ps --json | tr -d " " | grep -c "\"state\":\"running\"")" -eq 0 ]' ||
	    fail "then the session is over" "$(glove ps)"

	out=$(glove run --json -- sh -c 'exit 3')
	same "glove.run/1 3 exited" "$(field schema <<<"$out") $(field exit <<<"$out") $(field ended_by <<<"$out")" "--json says how it ended"
	case "$(field receipt <<<"$out")" in rcp_*) ok "--json names the receipt of the end" ;; *) fail "--json names the receipt of the end" "$out" ;; esac

	id=$(glove run --detach -- sleep 60)
	case "$id" in ses_????????????????) ok "--detach prints the id" ;; *) fail "--detach prints the id" "$id" ;; esac
	says "running" "ps lists it" glove ps
	same "two" "$(glove exec "$id" -- echo two)" "exec runs a second command in it"
	exits 5 "exec passes the exit code" glove exec "$id" -- sh -c 'exit 5'
	same "in" "$(echo in | glove exec "$id" -- cat)" "exec has a standard input"
	exits 0 "stop ends it" glove stop --now "$id"
	exits 0 "stop is idempotent" glove stop "$id"
	same "ended stopped" "$(glove show --json "$id" | field state) $(glove show --json "$id" | field ended_by)" "show says so"

	exits 0 "-n only says what it would do" glove run -n -- touch never
	says "nothing was changed" "and ends with that" glove run -n -- touch never
}

e2e_main "$@"
