#!/usr/bin/env bash
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2016 # what stands in single quotes is expanded inside the sandbox
# Goal: the ordinary tools of a developer work inside, as if there were no sandbox.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

# inside NAME SCRIPT: the script exits 0 in a staged sandbox
inside() {
	check "$1" glove run -- bash -euc "$2"
}

# with TOOL NAME SCRIPT: the same, if the host has the tool
with() {
	if command -v "$1" >/dev/null 2>&1; then inside "$2" "$3"; else skip "$2" "no $1 on this machine"; fi
}

tests() {
	git init -q . && echo one >a.txt && git add -A && git commit -qm one

	inside "bash: process substitution, here strings, job control" '
		diff <(echo a) <(echo a); cat <<<x >/dev/null; sleep 0.1 & wait'
	inside "a home, a /tmp and /dev/shm that can be written" '
		echo x >"$HOME/f"; echo x >/tmp/f; echo x >/dev/shm/f; test "$HOME" = /home/agent'
	inside "the workspace stands at its own path" "test \"\$PWD\" = '$PWD'"
	inside "who one is has a name" 'test "$(id -un)" = agent; test "$(id -u)" -ne 0; getent passwd agent >/dev/null'
	inside "git: status, commit, log, stash" '
		echo two >>a.txt; git commit -qam two; git log --oneline | grep -q two
		echo three >>a.txt; git stash -q; git stash pop -q; git status --short | grep -q a.txt'
	with gcc "gcc compiles and the result runs" '
		printf "int main(void){return 7;}" >t.c; gcc -o t t.c; rc=0; ./t || rc=$?; test $rc -eq 7'
	with make "make with two jobs" '
		printf "all: x y\nx:\n\techo x >x\ny:\n\techo y >y\n" >Makefile; make -s -j2; test -s y'
	with gdb "gdb traces a program of its own" '
		printf "int main(void){return 0;}" >t.c; gcc -g -o t t.c
		gdb -q -batch -ex "break main" -ex run -ex bt ./t 2>&1 | grep -q "#0 *main"'
	with strace "strace traces a program of its own" 'strace -o s.out true; grep -q execve s.out'
	with python3 "python: multiprocessing, semaphores, pools" '
		cat >p.py <<P
import multiprocessing as m
def f(x): return x * x
if __name__ == "__main__":
    with m.Pool(2) as p: assert p.map(f, [1, 2, 3]) == [1, 4, 9]
    s = m.Semaphore(1); s.acquire(); s.release()
P
		python3 p.py'
	if python3 -c 'import ensurepip' 2>/dev/null; then
		inside "python: venv" 'python3 -m venv --without-pip v; v/bin/python -c "import sys; assert sys.prefix != sys.base_prefix"'
	else
		skip "python: venv" "no ensurepip on this machine"
	fi
	with node "node: workers and a loopback server" '
		cat >n.js <<N
const { Worker, isMainThread, parentPort } = require("worker_threads");
if (!isMainThread) { parentPort.postMessage(42); } else {
  new Worker(__filename).on("message", (m) => { if (m !== 42) process.exit(1);
    const s = require("http").createServer((q, r) => r.end("ok")).listen(0, "127.0.0.1", () =>
      require("http").get({ port: s.address().port }, (r) => { r.resume(); r.on("end", () => process.exit(0)); })); });
}
N
		node n.js'
	with perl "perl" 'perl -e "fork // die; exit 0"'
	inside "names in UTF-8, with blanks and newlines" '
		touch "ä ö.txt" "日本" $'"'"'new\nline'"'"'; ls | grep -q 日本; test -e $'"'"'new\nline'"'"
	inside "a fifo and a unix socket of its own" '
		mkfifo f; (echo hi >f) & read -r l <f; test "$l" = hi
		python3 -c "import socket; s = socket.socket(socket.AF_UNIX); s.bind(\"s\"); s.listen(1); c = socket.socket(socket.AF_UNIX); c.connect(\"s\")"'
	inside "file locks and mmap" 'flock a.txt true; python3 -c "
import mmap
f = open(\"m\", \"w+b\"); f.truncate(4096); m = mmap.mmap(f.fileno(), 4096); m[0] = 65; m.flush()"'
	inside "threads by the hundred" 'python3 -c "
import threading
t = [threading.Thread(target=lambda: None) for _ in range(200)]
[x.start() for x in t]; [x.join() for x in t]"'
	inside "a deep tree of processes is reaped" 'for i in 1 2 3 4 5; do (setsid sleep 0.01 &) ; done; sleep 0.3; ! pgrep -x sleep'

	# A linked git worktree: its common directory lies elsewhere.
	git worktree add -q "$E2E_TMP/linked" -b linked
	(cd "$E2E_TMP/linked" && check "git in a linked worktree" glove run -- bash -euc 'git status --short; echo x >>a.txt; git commit -qam x; git log --oneline | grep -q x' &&
	    echo "$passed $failed" >"$E2E_TMP/sub") || true
	if [ -s "$E2E_TMP/sub" ]; then
		read -r passed failed <"$E2E_TMP/sub"
	fi

	# 200 MB of output, every byte of it.
	same "$(head -c 200000000 /dev/zero | cksum)" "$(glove run -- head -c 200000000 /dev/zero | cksum)" "200 MB of build output come through whole"

	# The size of the workspace does not matter.
	mkdir big && (cd big && for d in $(seq 100); do mkdir "$d" && (cd "$d" && seq 1000 | xargs touch); done)
	local t0 t1 t2
	t0=$(date +%s%N)
	(mkdir -p "$E2E_TMP/empty" && cd "$E2E_TMP/empty" && for _ in 1 2 3 4 5; do glove run -- true; done)
	t1=$(date +%s%N)
	for _ in 1 2 3 4 5; do glove run -- true; done
	t2=$(date +%s%N)
	if [ $((t2 - t1)) -lt $(((t1 - t0) * 3 + 200000000)) ]; then
		ok "a workspace of 100,000 files starts as fast as an empty one"
	else
		fail "a workspace of 100,000 files starts as fast as an empty one" "$(((t1 - t0) / 1000000)) ms and $(((t2 - t1) / 1000000)) ms for five"
	fi
}

e2e_main "$@"
