# fish completion of unseen: `unseen __complete` knows the words.

function __unseen_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l lines ($words[1] __complete $words[2..-1] "$word" 2>/dev/null)
    test (count $lines) -gt 0; or return
    for line in $lines[2..-1]
        echo $line
    end
    if test $lines[1] = files
        set -l before (string match -r -- '^--[a-z-]+=' $word)
        for path in (__fish_complete_path (string replace -r -- '^--[a-z-]+=' '' $word))
            echo "$before$path"
        end
    end
end

complete -c unseen -f -a '(__unseen_complete)'
