# Completion of remat-plan for fish. The program itself says what may follow.
function __remat_plan_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l reply ($words[1] completion words -- $words[2..-1] 2>/dev/null)
    set -l before (string match -r -- '^--[^=]*=' $words[-1])
    set -l path (string replace -r -- '^--[^=]*=' '' $words[-1])
    switch "$reply[1]"
        case files
            printf "$before%s\n" (__fish_complete_path $path)
        case folders
            printf "$before%s\n" (__fish_complete_directories $path)
        case words
            printf '%s\n' $reply[2..-1]
    end
end
complete -c remat-plan -f -a '(__remat_plan_complete)'
