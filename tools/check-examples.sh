#!/bin/bash
# check-examples.sh: runs the commands of examples/README.md, section by section, against an
# installed remat-plan, and looks at what they made.
set -u
part=examples
. tools/try.sh

# The commands of the N-th block of the README.
block() {
    awk -v n="$1" '/^```$/ { on = 0 } on && k == n; /^```sh$/ { on = 1; k++ }' examples/README.md
}

make -s --no-print-directory install BUILD="$build" DESTDIR="$tmp/root" PREFIX=/usr >/dev/null
cp -r examples "$tmp/examples"
# Sanitized objects need their runtime to link.
cat >"$tmp/pkg-config" <<EOF
#!/bin/sh
echo "-I$tmp/root/usr/include -L$tmp/root/usr/lib ${LDFLAGS-} -lremat -ljansson -pthread"
EOF
chmod +x "$tmp/pkg-config"
export PATH=$tmp:$tmp/root/usr/bin:$PATH

for i in 1 2; do
    block $i >"$tmp/block$i"
    try "block $i has commands" test -s "$tmp/block$i"
    try "block $i" bash -c "cd '$tmp' && set -e && . '$tmp/block$i' && cp '$tmp/log' ../../log$i"
done
try "layer1 is computed again" grep -q '^layer1 ' "$tmp/log1"
try "the momentum lives on the host" grep -q '"homes"' "$tmp/examples/c/plan.json"
try "100 losses" test "$(wc -l <"$tmp/examples/c/losses")" = 100
try "the network learns" awk '{ loss[NR] = $4 } END { exit !(loss[100] < loss[1] / 2) }' \
    "$tmp/examples/c/losses"

end_part
