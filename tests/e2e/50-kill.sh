#!/usr/bin/env bash
# SPDX-License-Identifier: ISC
# Goal: the client, gloved or a supervisor is killed at a random moment, again
# and again: no process of a session outlives its grace, nothing is left on the
# host, the journal verifies, the next run works.
#	GLOVE_KILLS=N rounds (default 20; 200 with GLOVE_LONG), GLOVE_SEED=N
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

# Processes of the agent: each carries this mark in its arguments.
marked() { pgrep -f "$mark" | grep -v "^$$\$" || true; }
unmarked() { [ -z "$(marked)" ]; }

victim() {	# client, gloved or supervisor: its pid, or nothing
	case $1 in
	0) echo "$client" ;;
	1) pgrep -f "$E2E_BIN/gloved" | head -n 1 ;;
	2) pgrep -x glove-sandbox | while read -r p; do
		[ "$(readlink "/proc/$p/exe")" = "$E2E_BIN/glove-sandbox" ] && echo "$p"
	   done | head -n 1 ;;
	esac
}

tests() {
	local n=${GLOVE_KILLS:-20} i who pid bad=0 before after
	[ -n "${GLOVE_LONG-}" ] && n=${GLOVE_KILLS:-200}
	RANDOM=${GLOVE_SEED:-7}
	echo "seed ${GLOVE_SEED:-7}, $n rounds"
	mark="glove-mark-$$-$RANDOM"
	before=$(cut -d' ' -f2 /proc/mounts | sort)
	for i in $(seq "$n"); do
		glove run -- bash -c "echo x >f; (setsid sleep 300 $mark 2>/dev/null || exec -a $mark sleep 300) & exec -a $mark sleep 300" </dev/null >/dev/null 2>&1 &
		client=$!
		sleep "0.0$((RANDOM % 10))$((RANDOM % 10))"
		who=$((RANDOM % 3))
		pid=$(victim $who)
		[ -n "$pid" ] && kill -KILL "$pid" 2>/dev/null
		# gloved gone: the session may live on for its grace; end it by a new one.
		if [ "$who" -ne 0 ]; then sleep 0.2; kill -TERM "$client" 2>/dev/null; fi
		wait "$client" 2>/dev/null
		glove ps --json >/dev/null 2>&1
		glove revoke --all --now >/dev/null 2>&1
		if ! waits 20 unmarked; then
			bad=$((bad + 1))
			fail "round $i (victim $who): no process of the agent is left" "$(marked)"
			marked | xargs -r kill -KILL
		fi
	done
	[ "$bad" -eq 0 ] && ok "after $n kills no process of an agent was left"
	after=$(cut -d' ' -f2 /proc/mounts | sort)
	same "$before" "$after" "no mount is left"
	check "the journal verifies" glove verify
	same hello "$(glove run -- echo hello)" "the next run works"
	same 0 "$(glove ps --json | python3 -c 'import json,sys; print(len(json.load(sys.stdin)["sessions"]))')" "no session is listed as running"
}

e2e_main "$@"
