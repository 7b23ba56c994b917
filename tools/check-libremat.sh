#!/bin/bash
# check-libremat.sh: uses libremat as its users do. It installs the library, builds the
# example of the README against the installed files, and runs it on plans of the tests. The
# header must also compile as C++.
set -u
cc=${CC:-gcc}
part=libremat
. tools/try.sh

try "make install" make -s --no-print-directory install BUILD="$build" DESTDIR="$tmp/root" PREFIX=/usr
root=$tmp/root/usr
sed -n '/^```c$/,/^```$/{/^```/d;p}' "$root/share/doc/remat-plan/libremat.md" >"$tmp/example.c"
try "the example is about 40 lines" awk 'END { exit !(NR >= 30 && NR <= 45) }' "$tmp/example.c"
# Sanitized objects need their runtime to link.
read -ra flags <<<"${LDFLAGS-}"
try "example.c compiles" "$cc" -std=c11 -Wall -Wextra -Werror -I"$root/include" \
    -o "$tmp/example" "$tmp/example.c" -L"$root/lib" "${flags[@]}" -lremat -ljansson
try "it walks a plan" bash -c "'$tmp/example' tests/data/verify/net.json \
    tests/data/verify/swap.json >'$tmp/output'"
try "it printed the ops it ran" grep -q '^run ' "$tmp/output"
try "it refuses a graph given as a plan" bash -c "! '$tmp/example' tests/data/verify/net.json \
    tests/data/verify/net.json 2>'$tmp/errors'"
try "the message is one line and names the file" grep -qx 'tests/data/verify/net.json: format: is not '\''remat-plan'\''' "$tmp/errors"
echo '#include <remat.h>' >"$tmp/cpp.cc"
try "remat.h compiles as C++" "$cc" -x c++ -Wall -Wextra -Werror -I"$root/include" -c \
    -o "$tmp/cpp.o" "$tmp/cpp.cc"
names=$(nm -g --defined-only "$build/libremat.a" | awk 'NF == 3 { print $3 }' |
    grep -v '^remat_')
try "all names begin with remat_; others: $names" test -z "$names"
# Documents that installed documents link to, and those that messages and help name.
docs=$root/share/doc/remat-plan
links=$(cd "$docs" && grep -oHE '\]\([^)#:]+[)#]' -- *.md | sed -E 's/^([^:]*):\]\((.*).$/\2/' | sort -u)
try "the documents link to each other" test "$(wc -w <<<"$links")" -ge 4
for link in $links $("$build/remat-plan" --help >/dev/null && strings -n 4 "$build/remat-plan" |
    grep -oE 'docs/[a-z-]+\.md' | sed 's|^docs/||' | sort -u); do
    try "installed: $link" test -e "$docs/$link"
done
if command -v pkg-config >/dev/null; then
    flags=$(PKG_CONFIG_PATH=$root/lib/pkgconfig pkg-config --static --libs remat)
    try "pkg-config names both libraries: $flags" test "${flags//*-lremat -ljansson*/yes}" = yes
fi

end_part
