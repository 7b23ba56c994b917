#!/bin/sh
# format.sh FILE...: checks that clang-format 14 would not change these files. Other versions
#   format some lines differently, so without version 14 the check is skipped.
# format.sh --write FILE...: formats the files.
# format.sh --found: succeeds if version 14 is installed.
set -u
tool=
for name in clang-format-14 clang-format; do
    if $name --version 2>/dev/null | grep -q 'version 14\.'; then
        tool=$name
        break
    fi
done
if [ "${1-}" = --found ]; then
    [ -n "$tool" ]
    exit
fi
if [ "${1-}" = --write ]; then
    shift
    [ -n "$tool" ] && exec "$tool" -i "$@"
    echo "format.sh: no clang-format 14 here" >&2
    exit 1
fi
if [ -z "$tool" ]; then
    echo "format: skipped (no clang-format 14; make format installs it)"
    exit 0
fi
good=0 bad=0
for file; do
    if "$tool" --dry-run -Werror "$file" 2>/dev/null; then
        good=$((good + 1))
    else
        echo "FAILED format: $file (run make format)"
        bad=$((bad + 1))
    fi
done
echo "format: $good passed, $bad failed"
[ $bad = 0 ]
