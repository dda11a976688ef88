#!/usr/bin/env bash
# SPDX-License-Identifier: ISC
# Goal: gloved comes and goes under its clients, and they get their answers.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

get() { python3 -c 'import json,sys
v = json.load(sys.stdin)
for k in sys.argv[1].split("."): v = v[int(k)] if k.isdigit() else v[k]
print(v)' "$1"; }
runs() { glove ps --json | grep -q '"state":"running"'; }

tests() {
	local pid i rcs=''
	local -a pids=()

	# Twenty at once, and no gloved yet.
	for i in $(seq 20); do
		glove run -- sh -c "exit $i" &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid"
		rcs="$rcs $?"
	done
	same " $(seq -s ' ' 20)" "$rcs" "twenty clients from a cold start, each with its own exit code"
	same 20 "$(glove ps --all --json | get sessions | grep -o "'ended_by': 'exited'" | wc -l)" "and twenty sessions are on record"

	# gloved is killed under a run: the client asks the next one.
	glove run --json -- sh -c 'echo x >f; until [ -e /tmp/go ]; do sleep 0.05; done; exit 5' >run.json 2>run.err &
	waits 10 runs
	kill -9 "$(glove daemon status --json | get pid)"
	check "the next gloved lists the session" waits 10 runs
	glove exec - touch /tmp/go
	wait $!
	same 5 $? "gloved killed during a run: the command's exit code"
	same "5 exited 1" "$(get exit <run.json) $(get ended_by <run.json) $(get changes.files <run.json)" "and the whole summary"
	glove run --json -- sh -c 'sleep 1; exit 6' >run.json 2>run.err &
	waits 10 runs
	kill -9 "$(glove daemon status --json | get pid)"
	wait $!
	same 6 $? "with no other client to start the next gloved"
	same "6 True" "$(get exit <run.json) $(get receipt <run.json | grep -q ^rcp_ && echo True)" "the client starts it itself"

	# Leaving: sessions run on; --now ends them first.
	glove run -- sh -c 'sleep 1; exit 9' &
	waits 10 runs
	says "1 session runs on" "daemon stop says what it leaves" glove daemon stop
	wait $!
	same 9 $? "which runs to its end"
	glove run -- sleep 60 &
	waits 10 runs
	check "daemon stop --now" glove daemon stop --now
	wait $!
	same 137 $? "daemon stop --now ends the sessions"
	exits 69 "and no gloved is left" glove daemon status
	same stopped "$(glove ps --all --json | get sessions.0.ended_by)" "what ended it is on record"
	exits 0 "the journal verifies" glove verify
}

e2e_main "$@"
