#!/bin/bash
# check-completion.sh: types the beginnings of command lines and the tab key into real shells,
# and compares what they make of it. bash is always there; zsh and fish are tried if they are
# installed.
set -u
export LC_ALL=C
here=$(cd "$(dirname "$0")/.." && pwd)
build=$(realpath "${BUILD:-build}")
export PATH=$build:$PATH TERM=dumb
good=0 bad=0
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
touch 'graph 1.json' && mkdir folder zsh

# What is typed, and the line that the tab key makes of it.
cases=(
    'so|solve'
    'help maxb|help maxbatch'
    'zoo resnet15|zoo resnet152'
    'completion z|completion zsh'
    'solve --bud|solve --budget'
    'solve --no-a|solve --no-addresses'
    'emit --target cu|emit --target cuda'
    'maxbatch resnet50 -d h1|maxbatch resnet50 -d h100'
    'maxbatch resnet50 --device=h1|maxbatch resnet50 --device=h100'
    'compare graph -p chen-sqrt,tfl|compare graph -p chen-sqrt,tflms'
    'solve gra|solve graph 1.json'
    'solve --out gra|solve --out graph 1.json'
    'solve --out=gra|solve --out=graph 1.json'
    'sweep -o fol|sweep -o folder'
    'solve graph --engine hi|solve graph --engine highs'
    'pack -o gra|pack -o graph 1.json'
    'verify -- gra|verify -- graph 1.json'
)

verdict() { # SHELL TYPED EXPECTED GOT
    if [ "$4" = "$3" ]; then
        good=$((good + 1))
    else
        bad=$((bad + 1))
        printf 'FAILED completion: %s: %s: expected "%s", got "%s"\n' "$@"
    fi
}

# Types lines into an interactive shell. Ctrl-A goes to the beginning of a line, where "echo"
# makes the shell print what is there instead of running it.
type_into() { # COMMAND of the shell
    { printf "remat-plan %s\t\001echo 'TYPED' \n" "${cases[@]%%|*}" && printf 'exit\n'; } |
        timeout 60 script -qec "$1" /dev/null | tr -d '\r' |
        sed -nE 's/.*TYPED remat-plan //; T; s/[ \/]*$//; p'
}

readline_shell() { # NAME COMMAND
    local i got
    mapfile -t got < <(type_into "$2")
    for i in "${!cases[@]}"; do
        verdict "$1" "${cases[i]%%|*}" "${cases[i]#*|}" "${got[i]-}"
    done
}

cat >bashrc <<'EOF'
eval "$(remat-plan completion bash)"
PS1=
bind 'set bell-style none'
EOF
readline_shell bash 'bash --noprofile --rcfile bashrc -i'

if command -v zsh >/dev/null; then
    cp "$here/src/cmd/completion/remat-plan.zsh" zsh/_remat-plan
    cat >zsh/.zshrc <<'EOF'
PS1= RPS1= fpath=($ZDOTDIR $fpath)
unsetopt prompt_cr prompt_sp
bindkey -e
autoload -U compinit && compinit -D -u
EOF
    ZDOTDIR=$tmp/zsh readline_shell zsh 'zsh -i'
fi

# fish lists the candidates for a line itself.
if command -v fish >/dev/null; then
    for case in "${cases[@]}"; do
        before=${case%%|*} after=${case#*|}
        got=$(HOME=$tmp XDG_CONFIG_HOME=$tmp fish -c \
            "source (remat-plan completion fish | psub); complete -C'remat-plan $before'" |
            sed -E 's/\t.*//; s/\/$//')
        verdict fish "$before" "${after#"${before% *} "}" "$got"
    done
fi

echo "completion: $good passed, $bad failed"
[ $bad = 0 ]
