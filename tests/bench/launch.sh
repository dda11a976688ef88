#!/usr/bin/env bash
# SPDX-License-Identifier: ISC
# What `glove run -- true` costs, warm and cold, beside bwrap with the same
# namespaces in the same run.  Rounds alternate; medians; ratios count.
set -u
here=$(cd "$(dirname "$0")" && pwd)
n=${N:-40} rounds=${ROUNDS:-5}
bin=${GLOVE_BIN:-$here/../../build/plain}
command -v bwrap >/dev/null || { echo "SKIP launch: no bwrap on this machine"; exit 0; }
tmp=$(mktemp -d)
export HOME=$tmp/home XDG_STATE_HOME=$tmp/s XDG_CONFIG_HOME=$tmp/c XDG_RUNTIME_DIR=$tmp/r PATH=$bin:$PATH
mkdir -m 700 "$HOME" "$tmp/s" "$tmp/c" "$tmp/r" && mkdir "$tmp/ws" && cd "$tmp/ws" || exit 1
trap 'glove daemon stop --now >/dev/null 2>&1; cd /; rm -rf "$tmp"' EXIT
cost=$tmp/cost
cc -O2 -D_GNU_SOURCE -o "$cost" "$here/launch_cost.c" || exit 1

peer=(bwrap --unshare-all --die-with-parent --new-session --ro-bind /usr /usr --symlink usr/bin /bin
    --symlink usr/lib /lib --symlink usr/lib64 /lib64 --symlink usr/sbin /sbin --ro-bind /etc/alternatives /etc/alternatives
    --ro-bind /etc/ssl/certs /etc/ssl/certs --ro-bind /etc/ld.so.cache /etc/ld.so.cache --proc /proc --dev /dev
    --tmpfs /tmp --tmpfs /home --bind "$tmp/ws" "$tmp/ws" --chdir "$tmp/ws" --clearenv --setenv PATH /usr/bin true)
"${peer[@]}" || { echo "SKIP launch: bwrap does not run here"; exit 0; }
glove run -- true || exit 1
daemon=$(glove daemon status --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["pid"])')

gw=() gc=() bw=() bc=()
for _ in $(seq "$rounds"); do
	read -r w _ c _ < <("$cost" "$n" "$daemon" glove run -- true </dev/null)
	gw+=("$w") gc+=("$c")
	read -r w _ c _ < <("$cost" "$n" 0 "${peer[@]}" </dev/null)
	bw+=("$w") bc+=("$c")
done
mid() { printf '%s\n' "$@" | sort -n | sed -n "$((($# + 1) / 2))p"; }
span() { printf '%s\n' "$@" | sort -n | sed -n '1p;$p' | tr '\n' ' '; }
printf 'launch warm   glove wall %s us (%s) cpu %s us; bwrap wall %s us (%s) cpu %s us\n' \
    "$(mid "${gw[@]}")" "$(span "${gw[@]}")" "$(mid "${gc[@]}")" "$(mid "${bw[@]}")" "$(span "${bw[@]}")" "$(mid "${bc[@]}")"
awk -v gw="$(mid "${gw[@]}")" -v bw="$(mid "${bw[@]}")" -v gc="$(mid "${gc[@]}")" -v bc="$(mid "${bc[@]}")" \
    'BEGIN { printf "launch warm   ratio wall %.2f (aim <= 1.3)  cpu %.2f (aim <= 1.0)\n", gw / bw, gc / bc }'
for p in $daemon; do
	awk -v n=gloved '/^(Rss|Pss):/ { printf "resident      %s %s %d KiB\n", n, $1, $2 }' "/proc/$p/smaps_rollup"
done
glove run --detach -- sleep 30 >/dev/null
sleep 0.3
for p in $(pgrep -x glove-sandbox); do
	awk '/^(Rss|Pss):/ { printf "resident      glove-sandbox %s %d KiB\n", $1, $2 }' "/proc/$p/smaps_rollup"
done
glove revoke --all --now >/dev/null 2>&1

cold=()
for _ in 1 2 3 4 5; do
	glove daemon stop --now >/dev/null 2>&1
	sleep 0.3
	read -r w _ _ _ < <("$cost" 3 0 bash -c 'glove run -- true; glove daemon stop >/dev/null' </dev/null)
	cold+=("$w")
done
printf 'launch cold   start of gloved, run, orderly stop: %s us (%s)\n' "$(mid "${cold[@]}")" "$(span "${cold[@]}")"
