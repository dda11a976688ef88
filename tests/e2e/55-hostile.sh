#!/usr/bin/env bash
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2016 # what stands in single quotes is expanded inside the sandbox
# Goal: an agent or a client that means ill, or is only large, costs nobody else
# anything: no hang, no key shown, no change hidden.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

last() { glove ps --all --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["sessions"][0]["id"])'; }

ended() { glove ps --all --json | python3 -c 'import json,sys; sys.exit(0 if [1 for x in json.load(sys.stdin)["sessions"] if x["id"] == sys.argv[1] and x["state"] == "ended"] else 1)' "$1"; }

# Where gloved listens.
control() { find "$XDG_RUNTIME_DIR" "$XDG_STATE_HOME" -name gloved.sock | head -n 1; }

# A client that lets its answer wait, longer than its socket holds, and then
# reads: the whole of it comes.
late_reader() {
	python3 - "$(control)" "$1" <<-'E'
	import json, socket, sys, time
	s = socket.socket(socket.AF_UNIX)
	s.settimeout(10)
	s.connect(sys.argv[1])
	f = s.makefile("rb")
	def ask(n, method, params, wait=0):
	    line = {"jsonrpc": "2.0", "id": n, "method": method, "params": params}
	    s.sendall(json.dumps(line).encode() + b"\n")
	    time.sleep(wait)
	    return json.loads(f.readline())["result"]
	ask(1, "hello", {"schema": "glove.control/1", "client": "late"})
	blob = ask(2, "change.show", {"id": sys.argv[2]})["manifest_blob"]
	got = ask(3, "blob.read", {"digest": blob, "offset": 0}, 1)
	sys.exit(0 if got["size"] > 250000 else 1)
	E
}

tests() {
	local id d

	mkdir many && cd many || return
	check "a session makes 3000 files" glove run -- sh -c 'for i in $(seq 3000); do echo x >a-file-with-a-long-name-for-$i; done'
	id=$(last)
	check "a client that reads late gets all of its answer" late_reader "$id"
	check "gloved answers the next one" timeout 10 glove ps
	same 3000 "$(timeout 20 glove diff --name-only "$id" | wc -l)" "all 3000 are listed"
	cd ..

	for d in "$XDG_STATE_HOME" "$XDG_STATE_HOME/glove" "$XDG_STATE_HOME/glove/keys" "$E2E_TMP" /; do
		exits 125 "--ro does not show Glove's own keys: ${d#"$E2E_TMP"}" glove run --ro "$d" -- true
	done
	exits 125 "nor by a detour" glove run --ro "$E2E_TMP/ws/../state" -- true
	says x "--ro of something else shows it" glove run --ro "$HOME" -- sh -c "echo x >f && cat f"

	for d in deleted renamed; do
		mkdir "$d" && cd "$d" || return
		id=$(glove run --detach -- sh -c 'until test -e /tmp/go; do sleep 0.1; done; echo kept >new')
		cd ..
		waits 10 glove exec "$id" -- true
		if [ "$d" = deleted ]; then rmdir "$d"; else mv "$d" "$d.2" && mkdir "$d"; fi
		check "a workspace is $d meanwhile" glove exec "$id" -- touch /tmp/go
		waits 10 ended "$id"
		same kept "$(cat "$XDG_STATE_HOME/glove/sessions/$id/upper/new")" "what was written in a $d workspace is kept"
		says "1 file" "and counted" glove show "$id"
	done
}

e2e_main "$@"
