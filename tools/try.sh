# try.sh: counts commands that must succeed. A part of `make check` sources it after
# setting `part` to its name; it sets build, tmp, good and bad. tmp is removed at the end.
# shellcheck shell=bash disable=SC2034,SC2154
build=$(realpath "${BUILD:-build}")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
good=0 bad=0

# try WHAT COMMAND...: what the command prints is in $tmp/log.
try() {
    local what=$1
    shift
    if "$@" >"$tmp/log" 2>&1; then
        good=$((good + 1))
    else
        bad=$((bad + 1))
        echo "FAILED $part: $what"
        cat "$tmp/log"
    fi
}

# Ends the part: prints the counts that check.sh adds up.
end_part() {
    echo "$part: $good passed, $bad failed"
    [ "$bad" = 0 ]
}
