#!/usr/bin/env bash
# SPDX-License-Identifier: ISC
# Goal: what happened can be handed out and checked by somebody else, with our
# verifier, with one that shares no code with it, and with sha256sum; and a byte
# that is changed is found.
# shellcheck disable=SC2016 # what stands in single quotes is expanded by sh
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

# No signing code and no database in the auditor's program.
linked() {
	! nm -a "$GLOVE_BIN/glove-verify" |
		grep -E 'sig_make|note_sign$|keyring_|crypto_sign_(detached|keypair)|sqlite3_' &&
		! ldd "$GLOVE_BIN/glove-verify" | grep -q sqlite
}

flip() { # FILE OFFSET: another byte there
	local old
	old=$(od -An -tu1 -j "$2" -N 1 "$1" | tr -d ' ')
	printf "%b" "\\x$(printf %02x $((old ^ 1)))" |
		dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# Each file of an export, changed somewhere: never exit 0.
tampered() {
	local f size at rc
	while IFS= read -r f; do
		size=$(stat -c %s "$f")
		for at in 0 $((size / 2)) $((size - 1)); do
			flip "$f" "$at"
			rc=0
			glove-verify --key "$1" "$2" >out 2>&1 || rc=$?
			flip "$f" "$at"
			if [ "$rc" -ne 1 ] && [ "$rc" -ne 7 ]; then
				echo "$f, byte $at: exit $rc"
				return 1
			fi
		done
	done < <(find "$2" -type f)
}

tests() {
	local key log ses rest

	git init -q work && cd work || return
	echo one >a && git add a && git commit -qm one
	check "a session" glove run -- sh -c 'echo two >>a; echo b >b'
	ses=$(glove ps --all --json | sed -n 's/.*"id":"\(ses_[0-9a-z]*\)".*/\1/p' | head -n 1)
	key=$(glove key export)

	says "VALID, NOT WITNESSED" "verify: the live journal" glove verify
	says "the running gloved knows" "verify: gloved says how many there are" glove verify
	says "this host" "verify: trusted because this host knows it" glove verify
	says "$ses" "verify: about one session" glove verify "$ses"
	echo junk >"$ses"
	says "VALID, NOT WITNESSED   $ses" "verify: a file with the name of a session is not meant" glove verify "$ses"
	exits 1 "verify: unless it is said so" glove verify "./$ses"
	rm "$ses"
	says '"verdict":"VALID, NOT WITNESSED"' "verify --json" glove verify --json
	exits 7 "verify --require witness" glove verify --require witness
	exits 3 "verify: no such thing" glove verify ses_0000000000000000

	check "export of a session" glove export "$ses" -o ../x
	check "export of all" glove export -o ../all
	exits 1 "export: what is there is left alone" glove export -o ../x
	exits 2 "export: says where to" glove export
	check "its files are listed" sh -c 'cd ../x && sha256sum -c --quiet SHA256SUMS'
	check "glove-verify" glove-verify --key "$key" ../x
	check "glove-verify: all of it" glove-verify --key "$key" ../all
	check "glove verify" glove verify ../x
	exits 7 "a key that nobody vouches for" glove-verify ../x
	says "UNTRUSTED KEY" "and its word" glove-verify ../x
	check "what an older copy knows is a part" glove-verify --key "$key" --against ../x/checkpoint ../all
	check "no signing code, no database" linked

	rest=$(grep -c . ../x/sealed.jsonl)
	check "the command is disclosed" grep -q '"field":"command"' ../x/sealed.jsonl
	check "fewer values than in the whole" test "$rest" -lt "$(grep -c . ../all/sealed.jsonl)"
	check "no host path in a record" sh -c '! grep -aqF "$PWD" ../x/tile/entries/*/* ../x/tile/entries/*'

	log=$(sed -n 's/^[^ ]* log .* \(glove\/.*\)$/\1/p' ../x/keys.txt)
	if [ -x "$E2E_GO/verify" ]; then
		check "a verifier that shares no code: export" "$E2E_GO/verify" export "$log" ../x
		check "a verifier that shares no code: whole" "$E2E_GO/verify" export "$log" ../all
		for r in ../x/receipts/*; do
			check "a verifier that shares no code: receipt ${r##*/}" "$E2E_GO/verify" receipt "$log" "$r"
		done
	else
		skip "a verifier that shares no code" "$(cat "$E2E_GO/why")"
	fi
	for r in ../x/receipts/*; do
		check "receipt ${r##*/}" glove-verify --key "$log" "$r"
		break
	done

	says running "replay: step by step" glove replay ../x --step
	says "$ses" "replay" glove replay
	says prepared "replay: up to a record" glove replay "$ses" --step --to 40
	says '"subjects":[' "replay --json" glove replay --json ../x

	check "a changed byte of any file is found" tampered "$key" ../x
	glove daemon stop >/dev/null 2>&1
	rest=${XDG_STATE_HOME:-$HOME/.local/state}/glove
	waits 10 sh -c "flock -n '$rest/lock' true"
	mkdir -m 700 ../copy && cp "$rest"/journal.db* "$rest"/head ../copy
	says "the head file knows" "a copy of the state directory" glove verify ../copy
	check "it is valid" glove verify ../copy
	rm ../copy/head
	says "----  completeness" "without its head nobody knows the end" glove verify ../copy
}

# Built here, where its source is; run by every user.
if [ -z "${E2E_GO-}" ]; then
	E2E_GO=$(mktemp -d "${TMPDIR:-/tmp}/glove-go.XXXXXX")
	chmod 755 "$E2E_GO"
	export E2E_GO
	mine=$E2E_GO
	"$E2E_TOP/tests/go/build.sh" "$E2E_GO/verify" >"$E2E_GO/why" 2>&1 || :
	rm -rf "$E2E_GO/gocache"
	chmod -R a+rX "$E2E_GO"
fi
e2e_main "$@"
rc=$?
rm -rf "${mine-}"
[ "$rc" -eq 0 ]
