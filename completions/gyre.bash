# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# bash completion for gyre(1). What can stand where is asked of the program itself, so it is always that of the
# installed version. Put it into /usr/share/bash-completion/completions/gyre, or: source <(gyre completion bash)

# The words of the line up to the cursor as the command would get them, into `line`: bash has cut them at = and : too.
_gyre_line() {
    local rest=${COMP_LINE:0:COMP_POINT} piece i gap
    line=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        piece=${COMP_WORDS[i]}
        gap=${rest%%[![:space:]]*}
        rest=${rest#"$gap"}
        # The word at the cursor ends there.
        [[ $rest == "$piece"* ]] || piece=$rest
        rest=${rest#"$piece"}
        if [[ $i -eq 0 || -n $gap ]]; then
            line+=("$piece")
        else
            line[-1]+=$piece
        fi
    done
}

# Takes the quoting off, without carrying anything out.
_gyre_bare() {
    bare=$1
    [[ $bare == "~/"* ]] && bare=$HOME/${bare#"~/"}
    bare=${bare//\\/}
    bare=${bare#[\'\"]}
    bare=${bare%[\'\"]}
}

_gyre() {
    local line words=() word bare kind prefix offer quoted cut
    _gyre_line
    for word in "${line[@]:1}"; do
        _gyre_bare "$word"
        words+=("$bare")
    done
    COMPREPLY=()
    {
        IFS=$'\t' read -r kind prefix || return
        # What bash takes to be the word begins behind the last = or : of it.
        cut=${line[-1]%"${COMP_WORDS[COMP_CWORD]}"}
        case ${COMP_WORDS[COMP_CWORD]} in = | :) cut=${line[-1]} ;; esac
        if [ "$kind" = files ]; then
            while IFS= read -r offer; do
                COMPREPLY+=("$offer")
            done < <(compgen -f -- "${bare#"$prefix"}")
            compopt -o filenames 2>/dev/null
            return
        fi
        [ "$kind" = more ] && compopt -o nospace 2>/dev/null
        while IFS=$'\t' read -r offer _; do
            printf -v quoted %q "$offer"
            COMPREPLY+=("${quoted#"$cut"}")
        done
    } < <("${line[0]}" completion offer -- "${words[@]}" 2>/dev/null)
}

complete -F _gyre gyre
