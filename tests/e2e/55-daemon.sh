#!/usr/bin/env bash
# SPDX-License-Identifier: ISC
# Goal: gloved is one, comes when it is needed, survives its clients, is survived
# by its sessions, and leaves when it is told.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

daemon() { glove daemon status --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["'"$1"'"])'; }
states() { glove ps --all --json | python3 -c 'import json,sys; print(*(s["state"] + ":" + str(s["ended_by"]) for s in json.load(sys.stdin)["sessions"]))'; }

# talk TEXT: send it as it is (@N: so many bytes without a newline), print what comes until the other side closes or
# a second has passed
talk() {
	python3 - "$sock" "$1" <<-'PY'
	import socket, sys, codecs
	s = socket.socket(socket.AF_UNIX)
	s.connect(sys.argv[1])
	s.settimeout(1)
	try:	# it may stop listening half way
	    if sys.argv[2].startswith("@"):
	        s.sendall(b"x" * int(sys.argv[2][1:]))
	    else:
	        s.sendall(codecs.escape_decode(sys.argv[2])[0])
	except OSError:
	    pass
	try:
	    while True:
	        b = s.recv(65536)
	        if not b:
	            break
	        sys.stdout.write(b.decode("utf-8", "replace"))
	except OSError:
	    pass
	PY
}

one_of_many() {
	local i pids=()
	for i in $(seq 20); do
		glove ps >/dev/null 2>"$E2E_TMP/many.$i" &
		pids+=($!)
	done
	for i in "${pids[@]}"; do wait "$i" || fail "a client among 20 at once" "$(cat "$E2E_TMP"/many.*)"; done
	same 1 "$(grep -c event=ready "$XDG_STATE_HOME/glove/gloved.log")" "20 clients at once start one gloved"
	exits 75 "a second gloved finds the first" "$E2E_BIN/gloved" --home "$XDG_STATE_HOME/glove"
}

rubbish() {
	local hello='{"jsonrpc":"2.0","id":1,"method":"hello","params":{"schema":"glove.control/1","client":"t"}}\n'
	says -32700 "rubbish is answered" talk 'rubbish\n'
	says "first request is hello" "nothing is heard before hello" talk '{"jsonrpc":"2.0","id":1,"method":"daemon.status"}\n'
	says -32601 "an unknown method" talk "$hello"'{"jsonrpc":"2.0","id":2,"method":"x"}\n'
	says '"id":"z"' "an id comes back" talk "$hello"'{"jsonrpc":"2.0","id":"z","method":"daemon.status"}\n'
	says "a frame is at most" "two mebibytes without a newline" talk @2097152
	same "$pid" "$(daemon pid)" "and it is the same gloved afterwards"
}

survived() {
	local id
	glove run -- sh -c 'for i in 1 2 3 4 5 6; do echo $i; sleep 0.4; done' </dev/null >"$E2E_TMP/out" 2>&1 &
	id=$!
	waits 10 grep -q 2 "$E2E_TMP/out"
	kill -KILL "$pid"
	check "after SIGKILL the next gloved starts" glove ps
	wait "$id"
	same 0 $? "a session does not notice that gloved was killed"
	same "1 2 3 4 5 6" "$(tr '\n' ' ' <"$E2E_TMP/out" | sed 's/ $//')" "nor does its client lose a line"
	same "ended:exited" "$(states)" "its end is recorded by the next one"
	id=$(glove run --detach -- sleep 60)
	check "gloved leaves while a session runs" glove daemon stop
	check "the next one" glove stop "$id"
	says "stopped" "can end it" glove show "$id"
}

tests() {
	local sock pid
	one_of_many
	sock=$(find "$E2E_TMP" -name gloved.sock | head -n 1)
	pid=$(daemon pid)
	rubbish
	survived
	check "stop" glove daemon stop
	check "its socket is gone" waits 5 test ! -e "$sock"
	says "stop -> down" "its last record says that it left" glove log
	local deep
	deep=$E2E_TMP/$(printf 'd%.0s' $(seq 120))
	same hi "$(glove --home "$deep" run -- echo hi </dev/null)" "a state directory with a long name works"
	check "and stops" glove --home "$deep" daemon stop
}

e2e_main "$@"
