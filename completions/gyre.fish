# SPDX-License-Identifier: Apache-2.0
# fish completion for gyre(1). What can stand where is asked of the program itself, so it is always that of the
# installed version. Put it into /usr/share/fish/vendor_completions.d/gyre.fish, or: gyre completion fish | source

function __gyre_complete
    set -l typed (commandline -opc)
    set -l last (commandline -ct)
    set -l answer ($typed[1] completion offer -- $typed[2..-1] $last 2>/dev/null)
    set -l first (string split -- \t $answer[1])
    if test "$first[1]" = files
        __fish_complete_path (string sub -s (math (string length -- "$first[2]") + 1) -- $last) | string replace -r '^' -- "$first[2]"
        return
    end
    printf '%s\n' $answer[2..-1]
end

complete -c gyre -f -a '(__gyre_complete)'
