#compdef remat-plan
# Completion of remat-plan for zsh. The program itself says what may follow.
_remat-plan() {
    local -a reply names
    reply=("${(@f)$("${(Q)words[1]}" completion words -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
    case $reply[1] in
    files) compset -P '--*='; _files ;;
    folders) compset -P '--*='; _files -/ ;;
    words)
        names=("${(@)reply[2,-1]//:/\\:}")
        names=("${(@)names/$'\t'/:}") # NAME:MEANING
        _describe -t words remat-plan names
        ;;
    esac
}
if [[ $funcstack[1] == _remat-plan ]]; then
    _remat-plan "$@"
else
    compdef _remat-plan remat-plan
fi
