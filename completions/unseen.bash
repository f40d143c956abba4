# bash completion of unseen: `unseen __complete` knows the words.
# shellcheck shell=bash

_unseen() {
    local i word words=() lines=() text=
    # bash takes = and : for words of their own. Put the words together again.
    for ((i = 1; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ ${#words[@]} -gt 0 && ($word == [=:]* || ${COMP_WORDS[i - 1]} == [=:]) ]]; then
            words[-1]+=$word
        else
            words+=("$word")
        fi
    done
    word=${words[-1]}
    mapfile -t lines < <("$1" __complete "${words[@]}" 2> /dev/null)
    COMPREPLY=()
    # Of --output=NAME only the name is in the last word of bash.
    text=${word%"$2"}
    if [[ ${lines[0]-} == files ]]; then
        compopt -o filenames 2> /dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$2")
    fi
    for word in "${lines[@]:1}"; do
        word=${word%%$'\t'*}
        COMPREPLY+=("${word#"$text"}")
    done
}

complete -F _unseen unseen
