# Completion of remat-plan for bash (4.3 or newer). The program itself says what may follow.
_remat_plan() {
    local words=() reply word joined='' last=${COMP_WORDS[COMP_CWORD]}
    # bash also splits words at '=' and ':', which remat-plan does not.
    for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
        if [[ ${#words[@]} != 0 && ($joined || $word == [=:]*) ]]; then
            words[-1]+=$word
        else
            words+=("$word")
        fi
        [[ $word == *[=:] ]] && joined=yes || joined=
    done
    mapfile -t reply < <("${COMP_WORDS[0]/#\~/$HOME}" completion words -- "${words[@]}" 2>/dev/null)
    local kind=${reply[0]-} word=${words[-1]}
    [[ $last == [=:] ]] && last=
    case $kind in
    files | folders)
        [[ $word == --*=* ]] && word=${word#*=}
        [[ $kind = files ]] && kind=-f || kind=-d
        mapfile -t COMPREPLY < <(compgen "$kind" -- "$word")
        compopt -o filenames 2>/dev/null
        ;;
    words)
        COMPREPLY=("${reply[@]:1}")
        COMPREPLY=("${COMPREPLY[@]%%$'\t'*}")
        ;;
    *) COMPREPLY=() ;;
    esac
    # Only what follows the last '=' or ':' is replaced.
    COMPREPLY=("${COMPREPLY[@]#"${word%"$last"}"}")
}
complete -F _remat_plan remat-plan
