#!/bin/sh
# SPDX-License-Identifier: ISC
# deps.sh - see that the packages for a purpose are there; install what is not.
#
#	dist/deps.sh build|check|long|bench
#
# Says nothing and does nothing when all is there.  As root on Debian it says in
# one line what it installs and why; as anyone else it prints the command and
# fails, since it would change a machine that is not its own to change.
set -eu

case ${1-} in
build) what="to build Glove" modes=build ;;
check) what="to build and test Glove" modes="build check" ;;
long)  what="for every test of Glove" modes="build check long" ;;
bench) what="to measure Glove beside its peers" modes="build check bench" ;;
*)     echo "usage: dist/deps.sh build|check|long|bench" >&2; exit 2 ;;
esac

# One row a package: for which mode, how to see it, its name, what for.
#	c COMMAND   p PKG-CONFIG MODULE   f FILE
table() {
	cat <<-'END'
	build c gcc           gcc             compiler
	build f /usr/include/stdio.h libc6-dev compiler
	build c make          make            make
	build c pkg-config    pkg-config      finding libraries
	build c git           git             version, demo
	build p sqlite3       libsqlite3-dev  journal
	build p libsodium     libsodium-dev   signatures
	build p libzstd       libzstd-dev     blobs
	build p libseccomp    libseccomp-dev  sandbox
	build p jansson       libjansson-dev  JSON
	build p libsystemd    libsystemd-dev  user scopes
	check p cmocka        libcmocka-dev   unit tests
	check c clang         clang           second compiler
	check c mandoc        mandoc          pages
	check c shellcheck    shellcheck      scripts
	check c tmux          tmux            terminal tests
	check c strace        strace          tests of tools inside
	check c gdb           gdb             tests of tools inside
	check c python3       python3         tests of tools inside
	check c go            golang-go       independent verifier
	check f /usr/share/gocode/src/golang.org/x/mod/go.mod golang-golang-x-mod-dev independent verifier
	long  c cppcheck      cppcheck        static analysis
	long  c clang-tidy    clang-tidy      static analysis
	long  f RUNTIME       libclang-rt-14-dev fuzzing
	bench c bwrap         bubblewrap      peer in bench
	END
}

# The fuzzer's run time lies where clang says, or nowhere.
runtime() {
	command -v clang >/dev/null 2>&1 || return 1
	for f in "$(clang -print-resource-dir)"/lib/*/libclang_rt.fuzzer*.a; do
		[ -e "$f" ] && return 0
	done
	return 1
}

there() {	# KIND THING
	case $1$2 in
	c*)       command -v "$2" >/dev/null 2>&1 ;;
	p*)       pkg-config --exists "$2" 2>/dev/null ;;
	fRUNTIME) runtime ;;
	*)        [ -e "$2" ] ;;
	esac
}

# Prints the packages that are missing; with -v as "package (why)".
missing() {
	table | while read -r mode kind thing package why; do
		case " $modes " in *" $mode "*) ;; *) continue ;; esac
		there "$kind" "$thing" && continue
		if [ "${1-}" = -v ]; then
			printf '%s (%s), ' "$package" "$why"
		else
			printf '%s ' "$package"
		fi
	done
}

packages=$(missing)
packages=${packages% }
[ -n "$packages" ] || exit 0

list=$(missing -v)
list=${list%, }
command="apt-get install -y --no-install-recommends $packages"
if ! command -v apt-get >/dev/null 2>&1; then
	echo "missing, $what: $list; install what your system calls these" >&2
	exit 1
fi
if [ "$(id -u)" -ne 0 ]; then
	echo "missing, $what: $list; as root: $command" >&2
	exit 1
fi

echo "installing, $what: $list"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086	# a list of packages
if ! { apt-get -q update && apt-get -q install -y --no-install-recommends \
    $packages; } >"$log" 2>&1; then
	tail -n 15 "$log" >&2
	echo "could not install: $packages" >&2
	exit 1
fi
packages=$(missing)
if [ -n "$packages" ]; then
	echo "installed, but still not found: ${packages% }" >&2
	exit 1
fi
