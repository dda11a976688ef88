#!/usr/bin/env bash
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2016 # what stands in single quotes is expanded inside the sandbox
# Goal: what a session writes reaches the directory by apply alone, whole or not
# at all; it can be looked at before, dropped, and taken back.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

last() { glove ps --all --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["sessions"][0]["id"])'; }
tree() { (cd "$1" && find . -not -path './.git/*' -type f -print0 | sort -z | xargs -0 sha256sum); }

tests() {
	local id before

	mkdir ws2 && cd ws2 || return
	printf 'one\ntwo\n' >a.txt
	printf 'gone\n' >b.txt
	mkdir d && printf 'deep\n' >d/c.txt
	before=$(tree .)

	check "a session edits, makes, removes" glove run -- sh -c '
		echo three >>a.txt; rm b.txt; echo new >n.txt; mkdir -p e/f; echo x >e/f/g; chmod +x d/c.txt'
	id=$(last)
	same "$before" "$(tree .)" "the directory is as it was"
	says "+three" "diff shows the added line" glove diff "$id"
	says "-gone" "diff shows the removed file" glove diff -
	exits 0 "diff exits 0" glove diff "$id"
	exits 1 "diff --exit-code exits 1" glove diff --exit-code "$id"
	same "a.txt b.txt d/c.txt e/f/g n.txt" "$(glove diff --name-only "$id" | sort | grep -v '/$' | tr '\n' ' ' | sed 's/ $//')" "diff --name-only names the files"
	same "glove.diff/1" "$(glove diff --json "$id" | python3 -c 'import json,sys; print(json.load(sys.stdin)["schema"])')" "diff --json"
	mkdir "$E2E_TMP/copy" && cp -r . "$E2E_TMP/copy"
	glove diff "$id" >"$E2E_TMP/p"
	git -C "$E2E_TMP/copy" init -q
	check "git apply takes the diff" git -C "$E2E_TMP/copy" apply --whitespace=nowarn "$E2E_TMP/p"
	exits 5 "apply without a terminal and without --yes cannot ask" setsid -w glove apply "$id"
	same "$before" "$(tree .)" "and changes nothing"
	says "nothing was changed" "apply -n says what it would do" glove apply -n "$id"
	same "$before" "$(tree .)" "and changes nothing either"
	exits 2 "four characters are not enough to write" glove apply --yes "${id:4:4}"
	check "apply --yes" glove apply --yes "$id"
	same "one two three" "$(tr '\n' ' ' <a.txt | sed 's/ $//')" "the edit is there"
	check "the removed file is gone" test ! -e b.txt
	check "the new ones are there" test -e n.txt -a -e e/f/g
	check "the mode is there" test -x d/c.txt
	check "undo --yes" glove undo --yes "$id"
	same "$before" "$(tree .)" "everything is as it was before"
	exits 4 "what was undone cannot be applied" glove apply --yes "$id"

	check "a session for single paths" glove run -- sh -c 'echo X >>a.txt; echo Y >>d/c.txt'
	id=$(last)
	check "apply of one path" glove apply --yes "$id" a.txt
	same "X deep" "$(tail -n 1 a.txt) $(cat d/c.txt)" "takes only that one"
	check "apply of a path relative to here" env -C d glove apply --yes "$id" c.txt
	same "Y" "$(tail -n 1 d/c.txt)" "takes that one too"
	exits 3 "a path that did not change is named" glove apply --yes "$id" nothere.txt

	check "a session whose file the host changes too" glove run -- sh -c 'echo mine >>a.txt; echo more >z.txt'
	id=$(last)
	echo theirs >>a.txt
	before=$(tree .)
	exits 1 "apply finds the conflict" glove apply --yes "$id"
	says "a.txt" "and names the file" glove apply --yes "$id"
	same "$before" "$(tree .)" "nothing was touched"
	exits 1 "apply -n finds it too" glove apply -n "$id"
	check "the other file can be taken alone" glove apply --yes "$id" z.txt
	same "more" "$(cat z.txt)" "and is there"

	check "a session to be dropped" glove run -- sh -c 'echo never >a.txt'
	id=$(last)
	check "discard" glove discard "$id"
	exits 0 "discard is idempotent" glove discard "$id"
	exits 4 "what was discarded cannot be shown" glove diff "$id"
	exits 4 "or applied" glove apply --yes "$id"
	check "and its files are gone" test ! -e "$XDG_STATE_HOME/glove/sessions/$id/upper"

	check "a session that changes nothing" glove run -- true
	exits 3 "has no changes" glove diff "$(last)"

	id=$(glove run --detach -- sh -c 'echo half >half.txt; sleep 60')
	waits 10 test -e "$XDG_STATE_HOME/glove/sessions/$id/upper/half.txt"
	says "+half" "diff of a running session shows what it has written so far" glove diff "$id"
	exits 4 "which cannot be applied yet" glove apply --yes "$id"
	check "stop" glove stop --now "$id"
	says "+half" "diff afterwards" glove diff "$id"

	check "odd names" glove run -- sh -c 'echo 1 >"ä b.txt"; echo 2 >"$(printf "nl\nx")"; ln -s a.txt link; printf "\033[2J" >esc'
	id=$(last)
	case "$(glove diff --name-only "$id" | tr -d '\n')" in *$'\033'*) fail "names cannot carry escapes" "" ;; *) ok "names cannot carry escapes" ;; esac
	check "are applied" glove apply --yes "$id"
	check "as they are" test -e "ä b.txt" -a -e "$(printf 'nl\nx')" -a -L link
	cd ..
}

e2e_main "$@"
