# Room for the keys that are likely to come: the set of a run over files is about as large as one that
# grows from a pipe, whatever the share of new lines, and the lines are the same.
. "$(dirname "$0")/lib/common.bash"

# The memory of the set of a run of these arguments. Its lines go to `out`.
memory() {
    "$UNSEEN" --seed room --stats=json "$@" 2>stats >out
    sed -n 's/.*"memory":\([0-9]*\).*/\1/p' stats
}

# check FILE PERCENT: the run over the file takes at most so much memory of the run from a pipe, and half
# a megabyte, the step in which small sets take memory.
check() {
    local grown
    grown=$(memory < <(cat "$1"))
    cp out grown
    for threads in 1 2; do
        local roomy
        roomy=$(memory -j "$threads" "$1")
        holds cmp grown out
        holds [ "$roomy" -le $((grown * $2 / 100 + 524288)) ]
        roomy=$(memory -j "$threads" <"$1")
        holds cmp grown out
        holds [ "$roomy" -le $((grown * $2 / 100 + 524288)) ]
    done
}

urls 300000 300000 1 >new
check new 112
urls 300000 150000 2 >half
check half 112
# All lines of the first 1/64 are new, and all behind are repeats: the set has room for 8 times its keys
# at most.
urls 20000 20000 3 >first
for _ in {1..64}; do cat first; done >many
check many 900

# The run does make room: this one is the worst case.
grown=$(memory < <(cat many))
holds [ "$(memory many)" -gt $((grown * 2)) ]

# Files whose end is not known, and sets that were made for a number of keys.
mkfifo fifo
cat new >fifo &
holds [ "$(memory fifo)" -gt 0 ]
wait
made=$(memory --capacity 1000000 new)
holds [ "$made" = "$(memory --capacity 1000000 < <(cat new))" ]
gzip -c new >new.gz
check new.gz 112
finish
