#!/usr/bin/env bash
# SPDX-License-Identifier: ISC
# Goal: only gloved can sign or write the journal.  What the other programs do
# not contain, no fault in them can be made to call.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

# has PROGRAM PATTERN: a symbol of ours, or of a library, that it links
has() { nm "$GLOVE_BIN/$1" 2>/dev/null | grep -qE " [TtUu] ($2)(@|\$)"; }

contains() {
	if has "$1" "$2"; then ok "$1 has $2"; else fail "$1 has $2"; fi
}

# lacks PROGRAM WHAT PATTERN
lacks() {
	if has "$1" "$3"; then fail "$1 cannot $2" "it contains $3"; else ok "$1 cannot $2"; fi
}

tests() {
	local sign='sig_make|note_sign|keyring_create|keyring_open|crypto_sign_ed25519_detached|crypto_sign_detached'
	local p
	# Otherwise the patterns below would prove nothing.
	for p in sig_make crypto_sign_detached sqlite3_open_v2 journal_commit; do
		contains gloved "$p"
	done
	for p in glove glove-verify glove-sandbox; do
		lacks "$p" "sign" "$sign"
		lacks "$p" "commit" "journal_commit|journal_open"
	done
	lacks glove-sandbox "open a database" "sqlite3_open.*"
	contains glove-sandbox receipt_verify
}

e2e_once "$@"
