#!/usr/bin/env bash
# SPDX-License-Identifier: ISC
# demo.sh BIN - the main job on real input: a shell agent works on a git tree in
# the sandbox, tries what it must not do, and its history is verified.  Leaves
# nothing behind.
set -eu
bin=$1
PATH=$bin:$PATH
tmp=$(mktemp -d "${TMPDIR:-/tmp}/glove-demo.XXXXXX")
export HOME=$tmp/home XDG_STATE_HOME=$tmp/state XDG_CONFIG_HOME=$tmp/config XDG_RUNTIME_DIR=$tmp/run
mkdir -m 700 "$HOME" "$XDG_RUNTIME_DIR" "$XDG_STATE_HOME" "$XDG_CONFIG_HOME"
# Whatever happens: end the private gloved, remove what was made.
trap 'glove daemon stop >/dev/null 2>&1 || true; rm -rf "$tmp"' EXIT

say()  { printf '\n\033[1m# %s\033[0m\n' "$*"; }
show() { printf '\033[1m$ %s\033[0m\n' "$*"; "$@"; }
[ -t 1 ] || { say() { printf '\n# %s\n' "$*"; }; show() { printf '$ %s\n' "$*"; "$@"; }; }

say "A git tree of its own, and a secret beside it"
mkdir -m 700 "$HOME/.ssh" && echo "not for agents" >"$HOME/.ssh/id_demo"
git init -q "$tmp/app" && cd "$tmp/app"
git config user.name Demo && git config user.email demo@example.invalid
cat >hello.c <<'C'
#include <stdio.h>
int main(void) { puts("hello, wrold"); return 0; }
C
printf 'hello: hello.c\n\tcc -o hello hello.c\n' >Makefile
echo hello >.gitignore
git add -A && git commit -qm "hello"

cat >"$tmp/agent.sh" <<'A'
echo "agent: uid $(id -u), home $HOME, in $PWD"
sed -i 's/wrold/world/' hello.c
make -s hello && ./hello
printf '# hello\n\nSays hello.\n' >README.md
git add -A && git commit -qm "fix the greeting" && git log --oneline | head -1
try() { printf 'agent: tries to %-38s ' "$1"; shift; if "$@" >/dev/null 2>&1; then echo "SUCCEEDED"; else echo "refused"; fi; }
try "read the owner's ssh key"            cat "$SECRET"
try "write to /usr"                       touch /usr/bin/planted
try "reach the network"                   bash -c 'echo >/dev/tcp/1.1.1.1/80'
try "mount something"                     mount -t tmpfs none /mnt
try "see a process of the host"           test -e "/proc/$HOSTPID"
A
cp "$tmp/agent.sh" agent.sh && git add agent.sh && git commit -qm "the agent"

say "Run it in the sandbox"
show glove run -v --env SECRET="$HOME/.ssh/id_demo" --env HOSTPID=$$ --name demo -- bash ./agent.sh

say "The host directory is as it was"
show git status --short
show grep -c wrold hello.c
say "What it did, and what it changed"
show glove timeline -
show glove diff - -- hello.c README.md
say "Take it"
show glove apply --yes -
show git log --oneline
show sh -c 'make -s hello && ./hello'

say "Verify the history, here and as a third party with an export"
show glove verify
show glove export -o "$tmp/export"
glove key export >"$tmp/root.pub"
show glove-verify --key "$(cat "$tmp/root.pub")" "$tmp/export"

say "Change one byte of the export: it must not verify"
f=$(find "$tmp/export/tile/entries" -type f | head -n 1)
size=$(stat -c %s "$f") at=$((size / 2))
old=$(od -An -tu1 -j "$at" -N 1 "$f" | tr -d ' ')
# shellcheck disable=SC2059
printf "\\$(printf %o $((old ^ 1)))" | dd of="$f" bs=1 seek="$at" conv=notrunc status=none
if show glove-verify --key "$(cat "$tmp/root.pub")" "$tmp/export"; then
	echo "demo: a changed export verified: this is a bug" >&2
	exit 1
fi
say "Found, as it must be.  Nothing of this demo is left on the machine."
