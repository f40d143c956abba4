# Shells complete commands, options, values and files: bash, zsh and fish themselves, each with its file
# of completions/.
# Label: once
. "$(dirname "$0")/lib/common.bash"

# completes WORDS... STDOUT: what the last word could become.
completes() {
    run __complete "${@:1:$#-1}"
    expect 0 "${*: -1}" ''
}
only_words() { cut -f 1 out | tr '\n' ' '; }

# Commands, and files: a file of lines is the first argument, too.
run __complete ''
holds [ "$(head -n 1 out)" = files ]
"$UNSEEN" help | sed -n '/^Commands$/,/^$/s/^  \([a-z]*\)  *[a-z].*/\1/p' > commands
same <(sed 1d out | cut -f 1) commands
completes ver 'files\nverify\tcompare every checksum of stores, lists, filters and bitmaps\n'
run __complete
holds [ "$(head -n 1 out)" = files ]
completes verify st 'files\n'
run __complete help filt
expect 0 'words\nfilters\t\n' ''

# Every option of every command, with its sentence; none of another.
while IFS= read -r command; do
    [ "$command" = help ] && continue
    "$UNSEEN" "$command" --help | sed -nE 's/^  (-., |    )?--([a-z-]+).*/--\2/p' | sort -u > options
    run __complete "$command" -
    same <(sed 1d out | cut -f 1 | sort) options
    holds [ "$(head -n 1 out)" = words ]
    lacks '	$' out
done < commands
completes check --fo 'words\n--format\twhat the lines are: auto, lines or jsonl (auto: jsonl if KEY is a path)\n'
run __complete import --for
holds grep -q 'requests.seen' out
completes --cap 'words\n--capacity\tmake room for N keys; not every filter grows past it\n'
completes explain --cap 'words\n'
completes -- --cap 'files\n'

# Values: choices, names, files, or nothing that is known; behind = or as a word, and behind a cluster.
completes --stats= 'words\n--stats=text\t\n--stats=json\t\n'
completes --stats j 'files\n' # the value of --stats is behind =
completes check --format js 'words\njsonl\t\n'
completes import --format a 'words\nanew\t\n'
completes --output=x 'files\n'
completes --output x 'files\n'
completes -vo x 'files\n'
completes -ov x 'files\n' # -o has its value, v
completes --key 1 'words\n'
completes -vk 1 'words\n'
completes serve --protocol so 'words\nsocketmap\t\n'
completes build --kind=p 'words\n--kind=phone\t\n'
completes build --kind '' 'words\nurl\t\nexpressions\t\nmail\t\nip\t\nphone\t\n'
completes plan --filter l 'words\nlist\t\n'
completes plan --filter bl 'words\nbloom\t\nblock\t\n'
completes bits a 'words\nadd\t\nand\t\nandnot\t\n'
completes bits add a 'files\n'
completes --nothing=x ''
completes --filter bl 'words\nbloom\t\nblock\t\n'
run __complete -p ''
holds [ "$(sed 1d out | cut -f 1)" = "$("$UNSEEN" help profiles | sed -nE 's/^  ([a-z0-9/_-]+) .*/\1/p')" ]
completes -p scr 'words\nscrapy\tw3lib 2.5 canonicalize_url, as Scrapy\047s duplicate filter\n'
run __complete --rule strip-www,no-strip-w
holds [ "$(only_words)" = 'words strip-www,no-strip-www ' ]

# The shells. `unseen` tells which arguments it was called with.
mkdir bin
cat > bin/unseen << 'END'
#!/bin/sh
case $1 in
__complete) exec "$UNSEEN" "$@" ;;
esac
printf '<%s>' "$@" > "$HOME/called"
END
chmod +x bin/unseen
export UNSEEN HOME=$PWD PATH=$PWD/bin:$PATH
mkdir files
touch files/a.txt 'files/two words.txt'
completions=$TESTS/../completions
cat > typed.py << 'END'
# typed.py SETUP KEYS SHELL...: types KEYS into the shell on a terminal of its own.
import os, pty, select, sys, time

def read_until(fd, text):
    got, end = b"", time.monotonic() + 300
    while text not in got and time.monotonic() < end:
        if select.select([fd], [], [], 0.1)[0]:
            got += os.read(fd, 4096)

pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[3], sys.argv[3:])
os.write(fd, sys.argv[1].encode() + b"; echo rea''dy\n")
read_until(fd, b"\nready")
os.write(fd, sys.argv[2].encode() + b"\n echo do''ne; exit\n")
read_until(fd, b"done")
os.close(fd)
os.waitpid(pid, 0)
END
typed() { # KEYS CALLED: for a shell
    last="$shell: $1"
    rm -f called
    python3 typed.py "$setup" "$(printf '%b' "$1")" $shell > /dev/null
    printf '%s\n' "$(cat called 2> /dev/null)" > out
    same out <(printf '%s\n' "$2")
}
in_shell() {
    typed 'unseen ver\t files/a\t' '<verify><files/a.txt>'
    typed 'unseen --outp\t files/a\t' '<--output><files/a.txt>'
    typed 'unseen --output=files/a\t' '<--output=files/a.txt>'
    typed 'unseen --stats=j\t' '<--stats=json>'
    typed 'unseen -vo files/two\t' '<-vo><files/two words.txt>'
    typed 'unseen serve --protocol=so\t' '<serve><--protocol=socketmap>'
    typed 'unseen build --kind ph\t x' '<build><--kind><phone><x>'
}
if command -v bash > /dev/null; then
    shell='bash --norc --noprofile -i' setup=". $completions/unseen.bash"
    in_shell
fi
if command -v zsh > /dev/null; then
    shell='zsh -f -i' setup="fpath=($completions \$fpath); autoload -Uz compinit; compinit -u"
    in_shell
fi
if command -v fish > /dev/null; then
    fished() { # LINE CANDIDATES
        last="fish: $1"
        fish --no-config -c "source $completions/unseen.fish; complete -C '$1'" > out 2> err
        same out <(printf -- "$2")
        same err /dev/null
    }
    fished 'unseen ver' 'verify\tcompare every checksum of stores, lists, filters and bitmaps\n'
    fished 'unseen --outpu' '--output\twrite to FILE, which is emptied first; with -s, or as a file of -x, it is continued: each line once\n'
    fished 'unseen --stats=j' '--stats=json\n'
    fished 'unseen --output files/a' 'files/a.txt\n'
    fished 'unseen --output=files/a' '--output=files/a.txt\n'
    fished 'unseen serve --protocol so' 'socketmap\n'
fi
finish
