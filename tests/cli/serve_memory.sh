# No memory while serving: every allocation fails once, and all from each one on. The server ends
# with status 2, or answers E where it had none; whatever it answered holds.
. "$(dirname "$0")/lib/common.bash"
. "$(dirname "$0")/lib/fail_alloc.bash"

# URLs of which some need memory to be made canonical, one request each; then a batch of them.
for i in 1 2 3 4 5 6; do
    printf 'HTTP://E.com/%d/../%*d\n' "$i" $((i % 2 ? 10 : 4000)) "$i"
done > urls
{ sed 's/^/A /' urls; echo F; } > adds
sed 's/^/C /' urls > asks
{ cat adds; printf 'B 6 C\n'; cat urls; echo I; } > requests

for on in once after; do
    n=0
    nwrong=0
    while n=$((n + 1)); [ "$n" -le 500 ]; do
        rm -f failed s s.image
        FAIL_AT=$n FAIL_ON=$on FAIL_MARK=failed LD_PRELOAD=./fail.so "$UNSEEN" serve --seed 1 s \
            < requests > out 2> err
        status=$?
        last="unseen serve with allocation $n failing ($on)"
        [ -e failed ] || break
        tests_run=$((tests_run + 1))
        case $status in
        0) [ "$(wc -l < out)" = 10 ] || complain "$last: $(wc -l < out) answers" ;;
        2) grep -qE 'memory|no room' err out || complain "$last: said $(cat err)" ;;
        *) complain "$last: exit status $status" ;;
        esac
        # What was new, and whether F said OK, against what the store has.
        sed -n '2,7p' out > answers
        "$UNSEEN" serve --seed 1 s < asks 2> asks_err | sed -n '2,7p' > found
        if [ "$(sed -n 8p out)" = OK ]; then
            while read -r answer && read -r has <&3; do
                case $answer$has in
                11) ;;
                E*0) nwrong=$((nwrong + 1)) ;;
                *) complain "$last: answered $answer, the store has $has" ;;
                esac
            done < answers 3< found
        fi
    done
    holds [ "$n" -gt 10 ]
    holds [ "$n" -le 500 ]
    echo "$on: $((n - 1)) allocations, $nwrong answers E"
done

# A batch whose answer needs memory changes nothing without it.
{ echo 'B 60000 A'; seq 60000; } > batch.txt
nfailed=0
for n in $(seq 500); do
    rm -f failed s s.image
    FAIL_AT=$n FAIL_ON=once FAIL_MARK=failed LD_PRELOAD=./fail.so "$UNSEEN" serve --seed 1 -p none s \
        < batch.txt > out 2> err
    [ -e failed ] || break
    grep -q 'out of memory for answers' err || continue
    nfailed=$((nfailed + 1))
    last="a batch with allocation $n failing"
    tests_run=$((tests_run + 1))
    "$UNSEEN" serve --seed 1 -p none s < /dev/null 2> err > found
    grep -q 'items=0$' found || complain "$last: $(cat found)"
done
holds [ "$n" -lt 500 ]
holds [ "$nfailed" -gt 3 ]

# The same of lists, asked as Squid does: a long URL needs memory, and without it gets the protocol's error.
printf 'evil.example/\n' | "$UNSEEN" build --seed 1 --expressions bad.list
{
    printf '1 http://evil.example/x\n2 http://good.example/\n3 http://evil.example/'
    head -c 40000 /dev/zero | tr '\0' a
    printf '\n4 http://good.example/'
    head -c 40000 /dev/zero | tr '\0' a
    printf '\n'
} > questions
for on in once after; do
    n=0
    nwrong=0
    while n=$((n + 1)); [ "$n" -le 500 ]; do
        rm -f failed
        FAIL_AT=$n FAIL_ON=$on FAIL_MARK=failed LD_PRELOAD=./fail.so "$UNSEEN" serve --protocol squid bad.list \
            < questions > out 2> err
        status=$?
        last="unseen serve bad.list with allocation $n failing ($on)"
        [ -e failed ] || break
        tests_run=$((tests_run + 1))
        case $status in
        0) [ "$(wc -l < out)" = 4 ] || complain "$last: $(wc -l < out) answers" ;;
        2) grep -qE 'memory|no room' err || complain "$last: said $(cat err)" ;;
        *) complain "$last: exit status $status" ;;
        esac
        nwrong=$((nwrong + $(grep -c BH out)))
        if grep -v BH out | grep -qvxE '[13] OK|[24] ERR'; then
            complain "$last: answered $(cat out)"
        fi
    done
    holds [ "$n" -gt 10 ]
    holds [ "$n" -le 500 ]
    echo "list, $on: $((n - 1)) allocations, $nwrong answers BH"
done

# Leases: without memory, or without room for the file, the URL is nobody's, and the answer says why.
for i in 1 2 3 4 5 6 7 8; do
    printf 'L 60 http://e.com/%04000d\n' "$i"
done > leases
refused=0
reasons='out of memory|cannot write the leases|the server cannot open the file of leases; it has said why'
for n in $(seq 1 300); do
    rm -f failed s s.image s.leases
    FAIL_AT=$n FAIL_ON=once FAIL_MARK=failed LD_PRELOAD=./fail.so "$UNSEEN" serve --seed 1 s < leases > out 2> err
    status=$?
    last="leases with allocation $n failing"
    [ -e failed ] || break
    tests_run=$((tests_run + 1))
    refused=$((refused + $(grep -c '^E' out)))
    case $status in
    0)
        if sed 1d out | grep -qvxE "1 [0-9a-f]+\.[0-9a-f]+|E ($reasons)"; then
            complain "$last: answered $(cat out)"
        fi
        if grep -q 'it has said why' out && ! grep -q memory err; then
            complain "$last: did not say why"
        fi
        [ "$(wc -l < out)" = 9 ] || complain "$last: $(wc -l < out) answers"
        ;;
    2) grep -qE 'memory|no room' err out || complain "$last: said $(cat err)" ;;
    *) complain "$last: exit status $status" ;;
    esac
done
holds [ "$n" -gt 10 ]
holds [ "$n" -lt 300 ]
holds [ "$refused" -gt 3 ]
echo "leases: $((n - 1)) allocations, $refused answers E"
if command -v prlimit > /dev/null; then
    rm -f s s.image s.leases
    prlimit --fsize=20000 "$UNSEEN" serve --seed 1 s < leases > out 2> err
    holds [ "$(sed 1d out | cut -c 1-27 | sed 's/^1 .*/1/' | uniq -c | tr -s ' \n' ' ')" = ' 4 1 4 E cannot write the leases ' ]
else
    skip 'no prlimit'
fi
finish
