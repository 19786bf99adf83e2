#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# install.sh [--list] [GROUP...] - install the Debian packages Gyre needs (groups: build run test dev cross avx512; default the first three).
#
# Says which are missing and fetches only those; where nothing is missing it needs neither root nor network.
# Two runs at once wait for each other. Packages that ship a service (redis-server, nutcracker, nginx, haproxy,
# clickhouse-server, carbon-c-relay) may have it started by Debian; Gyre neither needs nor touches it: its own servers use ports of their own.
set -euo pipefail

declare -A groups=(
    [build]="gcc g++ libc6-dev make meson ninja-build pkg-config libuv1-dev liburcu-dev libsqlite3-dev
             libyaml-dev libjansson-dev libexpat1-dev libxxhash-dev libmicrohttpd-dev libcurl4-openssl-dev zlib1g-dev
             libcmocka-dev libhiredis-dev python3"
    [run]="redis-server redis-tools python3 python3-redis python3-yaml wamerican"
    [dev]="clang-tidy-16 gcovr llvm-16"
    [cross]="gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-s390x-linux-gnu libc6-dev-s390x-cross qemu-user-static
             libxxhash-dev"
    [avx512]="bochs bochs-term bochsbios vgabios isolinux syslinux-common xorriso cpio busybox-static clang-16"
    [test]="clang-16 clang-format-16 libclang-rt-16-dev lld spin pmccabe shellcheck python3-pytest
            python3-redis python3-yaml redis-server redis-tools sqlite3 wamerican
            libhashkit-dev libssl-dev zlib1g-dev groff-base
            libmemcached-dev nutcracker haproxy nginx python3-uhashring valgrind zsh fish
            libguava-java openjdk-17-jdk-headless clickhouse-server python3-swift
            carbon-c-relay librdkafka1 python3-kafka python3-cassandra"
)

say() { printf 'install: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

installed() {
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# Sets `missing` to the packages of the named groups that are not (wholly) installed.
find_missing() {
    local group package
    missing=()
    for group in "$@"; do
        for package in ${groups[$group]}; do
            if ! installed "$package" && [[ " ${missing[*]-} " != *" $package "* ]]; then
                missing+=("$package")
            fi
        done
    done
}

# Becomes root only for apt and dpkg; how to do it by hand is said where that is not possible.
choose_root() {
    if [ "$(id -u)" -eq 0 ]; then
        root=()
    elif command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
        root=(sudo)
    else
        die "not root and no usable sudo: as root, run  apt-get install --no-install-recommends ${missing[*]}"
    fi
}

apt() {
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive LC_ALL=C \
        apt-get -qq -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3 "$@" </dev/null >&2
}

# Waits for another apt that is refreshing the lists: its lock is the one apt does not wait for itself.
refresh_lists() {
    local try
    for try in 1 2 3 4 5; do
        apt update && return 0
        [ "$try" = 5 ] || { say "apt-get update failed; trying again in 5 s"; sleep 5; }
    done
    return 1
}

mend_dpkg() {
    [ -n "$(find /var/lib/dpkg/updates -type f 2>/dev/null)$(dpkg --audit 2>/dev/null)" ] || return 0
    say "an earlier package installation was interrupted; finishing it (dpkg --configure -a)"
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive dpkg --configure -a </dev/null >&2 ||
        die "that failed: as root, run  dpkg --configure -a  and  apt-get -f install,  then try again"
}

usage() {
    cat <<'END'
usage: tools/install.sh [--list] [GROUP...]

Installs the Debian packages Gyre needs, those that are missing; says which. Needs root (or sudo) only then.

  build    to build it                     dev    for make lint, make cover, bench/mca.py
  run      for ./quickstart.sh             test   for ./test.sh
  cross    for make cross                 avx512 for make avx512
  (without a group: build run test)

  --list   print the packages and install nothing
  --help   this text
END
}

main() {
    local list=false group
    for group in "$@"; do
        case $group in
            -h | --help) usage; return 0 ;;
        esac
    done
    if [ "${1-}" = --list ]; then
        list=true
        shift
    fi
    [ $# -gt 0 ] || set -- build run test
    for group in "$@"; do
        [ -n "${groups[$group]-}" ] || { say "unknown group '$group'; there are: build run test dev cross avx512"; exit 2; }
    done
    if $list; then
        for group in "$@"; do
            xargs -n1 <<<"${groups[$group]}"
        done | sort -u
        return 0
    fi
    command -v dpkg-query >/dev/null ||
        die "this is not a Debian system; the packages needed are: $("${BASH_SOURCE[0]}" --list "$@" | tr '\n' ' ')"

    find_missing "$@"
    [ ${#missing[@]} -gt 0 ] || return 0
    # The folder itself is the lock: held by all of Gyre's installs on this machine, whoever runs them.
    exec 9</var/lib/dpkg
    flock -w 900 9 || die "another install has run for 15 minutes; giving up"
    find_missing "$@"
    [ ${#missing[@]} -gt 0 ] || return 0

    say "missing: ${missing[*]}"
    choose_root
    mend_dpkg
    refresh_lists || say "package lists could not be refreshed; trying with the ones at hand"
    apt install -y --no-install-recommends "${missing[@]}" ||
        die "apt-get could not install: ${missing[*]} (its reason is above; is the network there?)"
    find_missing "$@"
    [ ${#missing[@]} -eq 0 ] || die "still missing after apt-get: ${missing[*]}"
    say "done"
}

main "$@"
