#!/bin/sh
# SPDX-License-Identifier: ISC
# build.sh OUT - build the verifier that shares no code with Glove, as OUT.
#
# Offline, from Debian's golang-go and golang-golang-x-mod-dev.  What is missing
# is said in one line that begins with SKIP, and the exit status is 77.
set -eu
out=$(realpath -m "$1")
src=$(cd "$(dirname "$0")/verify" && pwd)
lib=/usr/share/gocode

command -v go >/dev/null 2>&1 ||
	{ echo "SKIP no go: the package golang-go is not installed"; exit 77; }
[ -d "$lib/src/golang.org/x/mod/sumdb/tlog" ] ||
	{ echo "SKIP no sumdb: the package golang-golang-x-mod-dev is not installed"; exit 77; }
mkdir -p "$(dirname "$out")"
# GOPATH mode: the packages lie where Debian puts them and nothing is fetched.
cd "$src"
GO111MODULE=off GOPATH=$lib GOFLAGS='' GOPROXY=off GOTOOLCHAIN=local CGO_ENABLED=0 \
GOCACHE=${GOCACHE:-$(dirname "$out")/gocache} go build -o "$out" .
