#!/bin/bash
# check-man.sh: the man page and --help must list the same commands and policies, and for
# each of them the same options with the same arguments.
set -u
export LC_ALL=C
build=${BUILD:-build}
man=man/remat-plan.1
good=0 bad=0

verdict() { # STATUS WHAT
    if [ "$1" = 0 ]; then
        good=$((good + 1))
    else
        bad=$((bad + 1))
        echo "FAILED man: $2 (- $man, + --help)"
    fi
}

# Prints the options of a help text, as in "-o, --output FILE".
of_help() {
    awk '/^options:$/ { on = 1; next } /^$/ { on = 0 } on' |
        sed -nE 's/^  +((-[a-zA-Z], )?--[a-z0-9-]+( [^ ]+)?)( .*)?$/\1/p' | sort
}

# The same for section "$1" of the man page, as in ".It Fl o , Fl Fl output Ar FILE".
of_man() {
    awk -v section="$1" '/^\.S[sh] / { on = ($0 == ".Ss " section) } on && /^\.It Fl /' $man |
        sed -E 's/^\.It //; s/Fl Fl /--/g; s/Fl /-/g; s/ , /, /; s/ Ar / /; s/\\&//g' | sort
}

common=$(of_man "Options of every command")
commands=$("$build/remat-plan" --help | sed -nE '/^commands:$/,/^$/s/^  ([a-z]+) .*/\1/p')
diff -u <(sed -n 's/^\.Ss \([a-z]*\)$/\1/p' $man | sort) <(printf '%s\n' "$commands" | sort)
verdict $? "the commands"
for command in $commands; do
    diff -u <({ of_man "$command" && printf '%s\n' "$common"; } | sort) \
        <("$build/remat-plan" "$command" --help | of_help)
    verdict $? "the options of $command"
done

# Policies and their options: "lb=N" in the help, ".It Cm lb Ns = Ns Ar N" in the man page.
diff -u <(sed -n '/^\.Sh POLICIES$/,/^\.Sh EXIT/s/^\.It Cm //p' $man | sed 's/ Ns = Ns Ar /=/') \
    <("$build/remat-plan" compare --help | sed -nE '/^policies/,$s/^  +([a-z][^ ]*) .*/\1/p')
verdict $? "the policies"

if command -v mandoc >/dev/null 2>&1; then
    wrong=$(mandoc -T lint -W warning $man)
    [ -z "$wrong" ]
    verdict $? "mandoc's warnings: $wrong"
fi

echo "man: $good passed, $bad failed"
[ $bad = 0 ]
