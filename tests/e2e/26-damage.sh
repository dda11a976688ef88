#!/usr/bin/env bash
# SPDX-License-Identifier: ISC
# Goal: a state directory that is damaged is refused with a sentence and a way
# out, nothing of it is touched, and put right again it works.
# shellcheck disable=SC2016 # what stands in single quotes is expanded by sh
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

S=''

# What there is, byte for byte; not what a start may always write, nor the
# empty log that SQLite makes.
print_of() {
	(cd "$S" && find . -type f ! -empty ! -name lock ! -name '*.lock' ! -name '*.log' ! -path './run/*' -exec sha256sum {} + | sort)
}

# damaged CODE TEXT NAME SHELL-TEXT: after it, a start is refused so.
damaged() {
	local want=$1 text=$2 name=$3 out rc before after
	(cd "$S" && eval "$4") || fail "$name" "cannot do: $4"
	before=$(print_of)
	out=$(glove ps 2>&1)
	rc=$?
	after=$(print_of)
	if [ "$rc" -eq "$want" ] && grep -q -- "$text" <<<"$out" && grep -q '^  do:' <<<"$out"; then
		ok "$name: exit $want, $text"
	else
		fail "$name" "exit $rc instead of $want, or no '$text' with a way out: $out"
	fi
	same "$before" "$after" "$name: nothing was touched"
	exits 125 "$name: nothing runs" glove run -- true
	find "$S" -mindepth 1 -maxdepth 1 -name 'journal.db*' -delete
	rm -rf "$S/keys" "$S/head"
	cp -a "$E2E_TMP/good/." "$S"
}

# A disk that is full, or too small from the beginning.
full() {
	local size
	if [ "$(id -u)" -ne 0 ] || ! unshare -m true 2>/dev/null; then
		skip "a full disk" "only root can mount one"
		return
	fi
	for size in 64k 256k 4m; do
		exits 0 "a disk of $size: refused at once" unshare -m sh -c '
			mkdir -p "$1" && mount -t tmpfs -o size="$2",mode=700 none "$1" &&
			timeout 10 glove --home "$1/state" ps 2>"$3"
			case $? in 71 | 74) grep -q "^  do:" "$3" ;; *) false ;; esac' \
		    sh "$E2E_TMP/small" "$size" "$E2E_TMP/small.err"
	done
	exits 0 "a disk that fills up: a run ends as it should, and can be stopped" unshare -m sh -c '
		mount -t tmpfs -o size=40m,mode=700 none "$1" || exit 1
		set -- --home "$1/state" "$1/fill"
		glove "$1" "$2" run -- sh -c "sleep 1; exit 9" & pid=$!
		until glove "$1" "$2" ps | grep -q running; do sleep 0.1; done
		head -c 100m /dev/zero >"$3" 2>/dev/null
		wait $pid; [ $? -eq 9 ] || exit 2
		glove "$1" "$2" revoke --all || exit 3
		rm "$3"
		glove "$1" "$2" run -- true || exit 4
		glove "$1" "$2" verify || exit 5
		glove "$1" "$2" daemon stop --now' sh "$E2E_TMP/small"
}

tests() {
	S=$XDG_STATE_HOME/glove
	glove run -- true
	glove daemon stop -q
	mkdir -m 700 "$E2E_TMP/good"
	cp -a "$S"/journal.db* "$S/head" "$S/keys" "$E2E_TMP/good"

	damaged 78 "newer version" "a journal of a newer version" \
	    "python3 -c 'import sqlite3; c = sqlite3.connect(\"journal.db\"); c.execute(\"pragma user_version = 999\"); c.commit()'"
	damaged 7 "CORRUPT" "another table in it" \
	    "python3 -c 'import sqlite3; c = sqlite3.connect(\"journal.db\"); c.execute(\"create table x (y)\"); c.commit()'"
	damaged 7 "mv that directory away" "a journal cut off" "truncate -s 20000 journal.db"
	damaged 7 "LOST_ALL" "an empty journal" ": >journal.db; rm -f journal.db-wal"
	damaged 7 "DB_DAMAGED" "rubbish for a journal" "head -c 30000 /dev/zero | tr '\\0' x >journal.db; rm -f journal.db-wal"
	damaged 7 "LOST_ALL" "no journal" "rm -f journal.db*"
	damaged 7 "HEAD_LOST" "no head file" "rm head"
	damaged 7 "HEAD_LOST" "a head file cut off" "truncate -s 100 head"
	damaged 78 "keys" "no keys" "rm -r keys"
	damaged 78 "log.key is missing" "no log key" "rm keys/log.key"
	damaged 78 "epoch.key is missing" "no epoch key" "rm keys/epoch.key"
	damaged 78 "log.key" "rubbish for a log key" "echo x >keys/log.key"
	damaged 78 "others may use it" "a key that others may read" "chmod 644 keys/epoch.key"
	damaged 78 "chmod 700" "a keys directory that others may enter" "chmod 755 keys"
	if [ "$(id -u)" -eq 0 ]; then
		damaged 78 "belongs to" "a keys directory of somebody else" "chown 61236 keys"
	fi
	chmod 755 "$S"
	exits 78 "a state directory that others may enter" glove ps
	says "chmod 700 $S" "the way out is named" glove ps
	chmod 700 "$S"

	check "put right again, it works" glove run -- true
	exits 0 "and verifies" glove verify
	glove daemon stop -q
	cp -a "$S/head" "$E2E_TMP/newer"
	rm "$S/head"
	says "glove verify $S" "how to look at it is said" glove ps
	exits 0 "and that works" glove verify "$S"
	says "mv that directory away" "doctor says the same" glove doctor
	cp "$E2E_TMP/good/head" "$S"
	exits 7 "an older head file is not taken" glove ps
	cp "$E2E_TMP/newer" "$S/head"
	check "its own is" glove ps
	full
}

e2e_main "$@"
