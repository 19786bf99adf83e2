#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# avx512.sh [--write] [MACHINE...] - libgyre on machines with AVX-512, emulated by Bochs, instruction by instruction.
#
# Builds the library and its tests with gcc and with clang, boots Debian's kernel on an emulated Skylake-X and
# runs them there: they have to say that the level of vector instructions is the one the machine is to have.
#
#   gcc, clang   AVX-512: unit tests, properties (GYRE_RUNS seeds, default 5), vectors of other systems; with
#                gcc also the instructions counted that tests/counts/counts.tsv allows (--write: keeps them there)
#   avx2         the processor has AVX-512 and the kernel does not enable its registers: level AVX2, no fault
#   plain        nor any vector registers past SSE's: plain C
#
# Ten minutes or so; it needs no root but for what tools/install.sh avx512 installs. The last line is
# "N passed, N failed"; what each machine said is kept in build-avx512/MACHINE/console.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
write=()
if [ "${1-}" = --write ]; then
    write=(--write)
    shift
fi
[ $# -gt 0 ] || set -- gcc clang avx2 plain
jobs=${JOBS:-$(nproc)}
home="build-avx512"
runs=${GYRE_RUNS:-5}

# compiler | level | tests | what is said to the kernel. XSAVES and XSAVEC are hidden from it because Bochs 2.7
# gives a wrong size for their form of the registers; Linux then leaves all of them disabled, AVX's too.
hidden=clearcpuid=xsaves,xsavec
declare -A machines=(
    [gcc]="gcc|AVX-512|tests and counts|$hidden"
    [clang]="clang-16|AVX-512|tests|$hidden"
    [avx2]="gcc|AVX2|level|$hidden,avx512f"
    [plain]="clang-16|plain C|level|noxsave"
)
unit=(hash like like_databases like_rings places replicas)
property=(like place)

die() { echo "avx512: $*" >&2; exit 1; }

build() {
    local targets=(tests/vectors tests/property/lib/test_prop_simd tests/unit/hash/test_hash_batch)
    [ "$1" != gcc ] || targets+=(tests/counts/counts_work)
    targets+=("${unit[@]/#/tests/unit/lib/test_lib_}" "${property[@]/#/tests/property/lib/test_prop_}")
    CC=$1 TARGETS="${targets[*]}" tools/build.sh "$home/build-$1" >"$home/build-$1.log" ||
        { tail -n 20 "$home/build-$1.log"; die "$1: no build"; }
}

# Debian's kernel for virtual machines: the image alone, not installed.
fetch_kernel() {
    local package
    [ ! -e "$home/vmlinuz" ] || return 0
    package=$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/^ *Depends: \(linux-image-[^ ]*\)$/\1/p' | head -n 1)
    [ -n "$package" ] || die "apt knows no linux-image-cloud-amd64: as root, run  apt-get update"
    rm -rf "$home/kernel"
    mkdir "$home/kernel"
    (cd "$home/kernel" && apt-get -qq -o APT::Sandbox::User=root download "$package" >&2) ||
        die "$package cannot be fetched: as root, run  apt-get update"
    dpkg-deb -x "$home"/kernel/*.deb "$home/kernel"
    mv "$home"/kernel/boot/vmlinuz-* "$home/vmlinuz"
    rm -rf "$home/kernel"
}

# What the machine runs: one "run NAME COMMAND..." a line. Aerospike's vectors, which no
# vector instructions answer, would take as long as all others.
list_tests() {
    local name
    echo "run simd bin/test_prop_simd"
    [[ $1 == tests* ]] || return 0
    echo "run unit-md5 bin/test_hash_batch"
    for name in "${unit[@]}"; do
        echo "run unit-$name bin/test_lib_$name$([ "$name" != places ] || echo ' places.tsv')"
    done
    for name in "${property[@]}"; do
        echo "run property-$name env GYRE_RUNS=$runs bin/test_prop_$name"
    done
    for name in tests/vectors/*/*.tsv; do
        basename "$(dirname "$name")"
    done | uniq | while read -r name; do
        [ "$name" = aerospike ] || echo "run vectors-$name bin/vectors vectors/$name"
    done
}

# fill DIR COMPILER LEVEL TESTS: the machine's files: programs, the libraries they are linked to, vectors.
fill() {
    local dir=$1 build=$home/build-$2 level=$3 library program
    mkdir -p "$dir/bin" "$dir/proc" "$dir/dev"
    cp /bin/busybox "$dir/bin/"
    cp -r tests/vectors tests/unit/lib/places.tsv "$dir/"
    for program in "$build"/tests/{vectors,counts/counts_work,unit/hash/test_hash_*[a-z],unit/lib/test_lib_*[a-z],property/lib/test_prop_*[a-z]}; do
        [ ! -f "$program" ] || strip -o "$dir/bin/$(basename "$program")" "$program"
    done
    ldd "$dir"/bin/{vectors,test_*} | grep -o '/[^ ]* (0x' | cut -d ' ' -f 1 | sort -u | while read -r library; do
        mkdir -p "$dir$(dirname "$library")"
        cp -L "$library" "$dir$library"
    done
    cat >"$dir/init" <<END
#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin GYRE_LEVEL='$level'
mount -t proc proc /proc
grep -m 1 '^flags' /proc/cpuinfo
run() {
    name=\$1
    shift
    if out=\$("\$@" 2>&1); then
        echo "gyre: passed \$name: \$(echo "\$out" | tail -n 1)"
    else
        echo "\$out" | tail -n 20
        echo "gyre: FAILED \$name"
    fi
}
$(list_tests "$4")
$([[ $4 != *counts ]] || echo "GYRE_TICKS=1 counts_work | sed 's/^/gyre: counted /'")
sleep 2 # until the port has sent all of that
poweroff -f
END
    chmod +x "$dir/init"
}

# boot MACHINE: its console, a serial port, goes to $home/MACHINE/console. Bochs is a debugger as Debian builds
# it, and waits for "c". Its screen is a terminal of its own, and unread it would fill up and stop the machine.
# Without a sound card Bochs falls over its sound driver.
boot() {
    local compiler level tests kernel bochs screen dir=$home/$1
    IFS='|' read -r compiler level tests kernel <<<"${machines[$1]}"
    rm -rf "$dir"
    mkdir -p "$dir/files" "$dir/disk/isolinux"
    fill "$dir/files" "$compiler" "$level" "$tests"
    (cd "$dir/files" && find . | cpio -o -H newc -R 0:0 --quiet) >"$dir/disk/initrd"
    ln "$home/vmlinuz" "$dir/disk/vmlinuz"
    cp /usr/lib/ISOLINUX/isolinux.bin /usr/lib/syslinux/modules/bios/ldlinux.c32 "$dir/disk/isolinux/"
    cat >"$dir/disk/isolinux/isolinux.cfg" <<END
default gyre
label gyre
    kernel /vmlinuz
    append initrd=/initrd console=ttyS0 quiet panic=-1 nosmp mitigations=off cryptomgr.notests $kernel
END
    xorriso -as mkisofs -quiet -o "$dir/iso" -b isolinux/isolinux.bin -no-emul-boot -boot-load-size 4 \
        -boot-info-table "$dir/disk" 2>"$dir/xorriso.log" || { cat "$dir/xorriso.log"; return 1; }
    cat >"$dir/bochsrc" <<END
config_interface: textconfig
display_library: term
memory: guest=256, host=256
romimage: file=/usr/share/bochs/BIOS-bochs-latest
vgaromimage: file=/usr/share/bochs/VGABIOS-lgpl-latest
cpu: model=corei7_skylake_x, ips=50000000, reset_on_triple_fault=0
clock: sync=none
ata0-master: type=cdrom, path=$dir/iso, status=inserted
boot: cdrom
com1: enabled=1, mode=file, dev=$dir/console
sound: waveoutdrv=dummy
panic: action=fatal
log: $dir/bochs.log
END
    echo c >"$dir/go"
    : >"$dir/screen"
    bochs -q -f "$dir/bochsrc" -rc "$dir/go" </dev/null >"$dir/screen" 2>&1 &
    bochs=$!
    trap 'kill -9 "$bochs" 2>/dev/null' EXIT
    trap exit TERM
    until screen=$(grep -ao '/dev/pts/[0-9]*' "$dir/screen"); do
        kill -0 "$bochs" && sleep 0.1 || return 1
    done
    # Turned off, the machine ends Bochs with a status of 1: what counts is on the console.
    timeout 2400 cat "$screen" >/dev/null 2>&1 &
    wait $! || true
}

# judge MACHINE: what was to run and is not said to have passed has failed.
judge() {
    local name line tests dir=$home/$1
    tests=$(cut -d '|' -f 3 <<<"${machines[$1]}")
    tr -d '\r' <"$dir/console" >"$dir/said" || true
    while read -r _ name _; do
        if line=$(grep "^gyre: passed $name: " "$dir/said"); then
            passed=$((passed + 1))
            echo "$1 ${line#gyre: passed }"
        else
            failed=$((failed + 1))
            echo "$1 $name FAILED"
            grep -B 20 "^gyre: FAILED $name$" "$dir/said" || tail -n 20 "$dir/said"
        fi
    done < <(list_tests "$tests")
    [[ $tests == *counts ]] || return 0
    sed -n 's/^gyre: counted //p' "$dir/said" >"$dir/counts"
    if python3 tests/counts/counts.py tests/counts/counts.tsv --counted "$dir/counts" "${write[@]}"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
}

for machine in "$@"; do
    [ -n "${machines[$machine]-}" ] || { echo "avx512: unknown machine '$machine'; there are: ${!machines[*]}" >&2; exit 2; }
done
[ "$(uname -m)" = x86_64 ] || die "compiles for x86-64, on x86-64 only"
tools/install.sh build avx512
mkdir -p "$home"
fetch_kernel
for compiler in $(for machine in "$@"; do cut -d '|' -f 1 <<<"${machines[$machine]}"; done | sort -u); do
    build "$compiler"
done
# shellcheck disable=SC2046 # one number a job
trap 'kill $(jobs -pr) 2>/dev/null || true' EXIT
for machine in "$@"; do
    while [ "$(jobs -pr | wc -l)" -ge "$jobs" ]; do
        wait -n || true
    done
    boot "$machine" &
done
wait
passed=0 failed=0
for machine in "$@"; do
    judge "$machine"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
