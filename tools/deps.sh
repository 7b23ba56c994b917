#!/bin/sh
# deps.sh install|name GROUP...: finds what a group of targets needs beyond git, gcc and
# make. Each need is tested by compiling and linking. If nothing is missing, the script does
# nothing else. Missing packages are installed with apt (through sudo if not root), or only
# named.
set -eu
mode=$1
shift
cc=${CC:-gcc}
missing= # packages
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

say() {
    echo "remat-plan setup: $*" >&2
}

# links PACKAGES HEADER LIBS...: adds PACKAGES to the missing ones unless a program can
# include the header and link the libraries.
links() {
    packages=$1
    header=$2
    shift 2
    printf '#include <stdio.h>\n#include <%s>\nint main(void) { return 0; }\n' "$header" \
        >"$tmp/try.c"
    $cc "$tmp/try.c" -o "$tmp/try" "$@" >"$tmp/log" 2>&1 || missing="$missing $packages"
}

# runs PACKAGES COMMAND...: adds PACKAGES to the missing ones unless the command succeeds.
runs() {
    packages=$1
    shift
    "$@" >"$tmp/log" 2>&1 || missing="$missing $packages"
}

libfuzzer_links() {
    printf '#include <stddef.h>\n#include <stdint.h>\n%s\n' \
        'int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) { return d == 0 && n; }' \
        >"$tmp/fuzz.c"
    clang -fsanitize=fuzzer,address,undefined "$tmp/fuzz.c" -o "$tmp/fuzz"
}

for group; do
    case $group in
    build)
        links libc6-dev stdlib.h
        links libglpk-dev glpk.h -lglpk
        links libjansson-dev jansson.h -ljansson
        ;;
    portable)
        links "libglpk-dev libjansson-dev libltdl-dev" glpk.h -Wl,-Bstatic -lglpk -ljansson \
            -lcolamd -lamd -lsuitesparseconfig -lgmp -lz -lltdl -Wl,-Bdynamic -lm
        ;;
    check)
        links libcunit1-dev CUnit/CUnit.h -lcunit
        runs glpk-utils glpsol --version
        ;;
    clang) runs clang clang --version ;;
    fuzz) runs "clang libclang-rt-dev" libfuzzer_links ;;
    python) runs python3-venv python3 -c "import venv, ensurepip" ;;
    browser)
        runs "chromium chromium-driver" chromedriver --version
        runs curl curl --version
        ;;
    format) runs clang-format-14 tools/format.sh --found ;;
    *) say "no group '$group'" && exit 2 ;;
    esac
done
[ -n "$missing" ] || exit 0
# Remove duplicates, keep the order.
missing=$(printf '%s\n' $missing | awk '!seen[$0]++' | tr '\n' ' ')
missing=${missing% }

if [ "$mode" = name ]; then
    say "missing: $missing"
    say "install these packages (names as in Debian and Ubuntu), or run: make deps"
    exit 1
fi
if ! command -v apt-get >/dev/null 2>&1; then
    say "missing: $missing"
    say "these are the names in Debian and Ubuntu; there is no apt-get here, so install" \
        "them with this system's package manager and run make again"
    exit 1
fi
as_root=
if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null 2>&1; then
        say "missing: $missing"
        say "not root and no sudo: as root run: apt-get install $missing"
        exit 1
    fi
    as_root="sudo env"
fi

apt_install() {
    ${as_root:-env} DEBIAN_FRONTEND=noninteractive apt-get install -y -q \
        --no-install-recommends "$@" </dev/null >&2
}

available() {
    for package; do
        [ -n "$(apt-cache madison "$package" 2>/dev/null)" ] || return 1
    done
}

# In older releases the libraries of sanitizers and fuzzers are in clang's own packages.
without_absent() {
    kept=
    for package; do
        if [ "$package" != libclang-rt-dev ] || available "$package"; then
            kept="$kept $package"
        fi
    done
    printf '%s\n' "$kept"
}

say "missing: $missing"
if ! available $missing; then
    say "running: ${as_root:+sudo }apt-get update"
    ${as_root:-env} apt-get update -q </dev/null >&2
fi
missing=$(without_absent $missing)
say "running: ${as_root:+sudo }apt-get install$missing"
if ! apt_install $missing; then
    say "running: ${as_root:+sudo }apt-get update (the package lists may be old)"
    ${as_root:-env} apt-get update -q </dev/null >&2
    apt_install $missing
fi
