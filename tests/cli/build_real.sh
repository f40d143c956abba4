# unseen build of real entries: each is listed, in a list of exact URLs and in one of sites.
[ ! -w /dev/shm ] || export TMPDIR=/dev/shm # the syncs would take minutes on a busy disk
. "$(dirname "$0")/lib/common.bash"

real=$TESTS/../../shared/data/maltrail_all.txt.zst
if [ ! -f "$real" ]; then
    skip 'no folder with real lists beside the checkout'
    finish
fi
for how in '' --expressions; do
    run build $how --force --stats=json real.list "$real"
    expect 0 '' '*'
    entries=$(sed -n 's/.*"entries":\([0-9]*\).*/\1/p' err)
    skipped=$(sed -n 's/.*"left_out":\([0-9]*\).*/\1/p' err)
    holds [ "$((entries + skipped))" = "$(zstd -qdc "$real" | wc -l)" ]
    # What was left out is no entry, and is not listed either.
    "$UNSEEN" check -v -c real.list "$real" > out
    holds [ "$(cat out)" -le "$skipped" ]
    holds [ "$(cat out)" -ge "$((skipped - skipped / 1000 - 1))" ]
done

finish
