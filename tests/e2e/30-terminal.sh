#!/usr/bin/env bash
# SPDX-License-Identifier: ISC
# Goal: a person's terminal: full-screen programs, its size, job control,
# leaving and coming back, and that it is as it was afterwards.  tmux is the
# terminal, and tells what it shows.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

t() { tmux -L "$sock" "$@"; }
keys() { t send-keys -t e2e "$@"; }
screen() { t capture-pane -p -t e2e; }
shows() { waits "${2:-10}" eval "screen | grep -qF -- '$1'"; }
# seen TEXT NAME: it appears on the screen
seen() {
	if shows "$1"; then ok "$2"; else fail "$2" "no '$1' on: $(screen | grep -v '^$' | tail -n 8)"; fi
}
prompt() { keys "clear; stty -a | tail -n +2 | md5sum | cut -c1-8; echo rea''dy" Enter; shows ready; }

tests() {
	local before id
	sock=e2e-$$
	if ! command -v tmux >/dev/null; then
		skip "terminal" "no tmux on this machine"
		return
	fi
	t -f /dev/null new-session -d -s e2e -x 80 -y 24 "env PS1='$ ' TERM=screen bash --norc --noprofile"
	keys "cd '$PWD'; printf 'line %s\\n' 1 2 3 >file.txt; tty" Enter
	prompt || fail "a shell in a terminal" "$(screen)"
	before=$(screen | grep -oE '^[0-9a-f]{8}' | head -n 1)

	keys "glove run -- bash --norc --noprofile" Enter
	seen "staged copy" "the header says what it is"
	keys "stty size; tty" Enter
	seen "24 80" "the size of the terminal is known inside"
	t resize-window -t e2e -x 100 -y 30
	sleep 0.3
	keys "stty size" Enter
	seen "30 100" "and follows when it changes"
	keys "sleep 100" Enter
	sleep 0.3
	keys C-z
	seen "Stopped" "Ctrl-Z stops the job inside"
	keys "fg" Enter
	sleep 0.3
	keys C-c
	sleep 0.2
	keys "echo al''ive" Enter
	seen "alive" "Ctrl-C ends the job inside, not the session"
	keys "clear; vim -u NONE -n file.txt" Enter
	seen "line 3" "vim shows the file"
	keys "Goadded by vim" Escape ":wq" Enter
	sleep 0.5
	keys "clear; tail -n 1 file.txt" Enter
	seen "added by vim" "and writes it"
	keys "clear; seq 500 | less" Enter
	seen "20" "less pages"
	keys "G"
	seen "500" "to the end"
	keys "q"
	keys "clear" Enter
	keys "exit 3" Enter
	seen "exited 3" "the summary says how it ended"
	seen "not yet applied" "and that nothing was applied"
	prompt
	same "$before" "$(screen | grep -oE '^[0-9a-f]{8}' | head -n 1)" "the terminal is as it was"

	# Leave and come back.
	keys "clear; glove run -- bash --norc --noprofile -c 'echo sta''rted; read -r x; echo got \$x; sleep 1; exit 4'" Enter
	seen "started" "a session to leave"
	keys C-] d
	seen "left running" "Ctrl-] d leaves it"
	prompt
	same "$before" "$(screen | grep -oE '^[0-9a-f]{8}' | head -n 1)" "the terminal is as it was"
	id=$(glove ps --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["sessions"][0]["id"])')
	keys "clear; glove attach $id; echo code \$?" Enter
	sleep 0.5
	keys "back" Enter
	seen "got back" "attach comes back to it"
	seen "code 4" "and exits as it does"

	# Only watch.
	id=$(glove run --detach -- sh -c 'while :; do echo ti''ck; sleep 0.2; done')
	keys "clear; glove attach --read-only $id" Enter
	seen "tick" "attach --read-only watches"
	keys C-c
	seen "left running" "Ctrl-C leaves it, since it has no terminal of its own"
	same "running" "$(glove show --json "$id" | python3 -c 'import json,sys; print(json.load(sys.stdin)["state"])')" "and it runs on"
	glove stop --now "$id" >/dev/null

	# The window is closed: the session goes with it.
	t new-window -t e2e -n closing "glove run --name closing -- sleep 300"
	waits 10 eval "glove ps | grep -q 'running.*closing'" || fail "a session in a window" "$(glove ps)"
	t kill-window -t e2e:closing
	if waits 15 eval "! glove ps | grep -q closing"; then ok "a closed window ends its session"; else fail "a closed window ends its session" "$(glove ps)"; fi

	# Killed while a full-screen program has the terminal.
	keys "clear; glove run -- vim -u NONE -n file.txt" Enter
	seen "line 3" "vim again"
	id=$(glove ps --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["sessions"][0]["id"])')
	glove stop --now "$id" >/dev/null
	seen "it was stopped" "a session that is stopped says so"
	prompt
	same "$before" "$(screen | grep -oE '^[0-9a-f]{8}' | head -n 1)" "and leaves the terminal as it was"

	# What is asked is answered at the terminal, and Enter is no.
	glove run -- sh -c 'echo new >new.txt' </dev/null
	id=$(glove ps --all --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["sessions"][0]["id"])')
	keys "clear; glove apply $id; echo code \$?" Enter
	seen "[y/N]" "apply asks"
	keys Enter
	seen "code 6" "Enter is no"
	check "and nothing was written" test ! -e new.txt
	keys "clear; glove apply $id </dev/null; echo code \$?" Enter
	seen "[y/N]" "it asks the terminal, not standard input"
	keys "y" Enter
	seen "code 0" "y is yes"
	check "and it is written" test -e new.txt
	t kill-server
}

e2e_main "$@"
