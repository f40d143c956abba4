# unseen build where other users can make names: what they put in place of its work folder is refused,
# and none of it leads to a file of ours. What is at work is nobody else's to read.
. "$(dirname "$0")/lib/common.bash"
building=
attacker=
cleanup_more() {
    [ -z "$attacker" ] || kill -KILL "$attacker" 2> /dev/null
    [ -z "$building" ] || kill -KILL "$building" 2> /dev/null
}
nobody=65534
as_root=false
[ "$(id -u)" != 0 ] || as_root=true
mkdir -m 1777 sticky
chmod 755 .
printf 'http://e.com/\n' > one.txt
hint='unseen: hint: work files go there: remove it, or build the list in a folder of your own\n'

# untouched: the file that a trap leads to is as it was, and there is no list.
printf 'precious\n' > precious
chmod 600 precious
untouched() {
    tests_run=$((tests_run + 1))
    [ "$(cat precious)" = precious ] || complain "$last: a file was written to through $1"
    [ ! -e sticky/n.list ] || complain "$last: there is a list, though $1 was in the way"
}

# ---- in place of the folder ----------------------------------------------------------------------
mkdir -m 777 sticky/n.list.building
ln -s "$PWD/precious" sticky/n.list.building/.unseen-list.new
run build sticky/n.list one.txt
expect 2 '' "unseen: error: sticky/n.list.building can be written to by other users\n$hint"
untouched 'a folder that others can write to'
holds [ -L sticky/n.list.building/.unseen-list.new ]
chmod 755 sticky/n.list.building
run build sticky/n.list one.txt
expect 0 '' ''
holds [ -f sticky/n.list ]
holds [ ! -L sticky/n.list ]
rm sticky/n.list

mkdir elsewhere
ln -s "$PWD/precious" elsewhere/.unseen-list.new
ln -s "$PWD/elsewhere" sticky/n.list.building
run build sticky/n.list one.txt
expect 2 '' "unseen: error: sticky/n.list.building is a symbolic link, not a folder\n$hint"
untouched 'a link to a folder'
holds [ -L elsewhere/.unseen-list.new ]
rm sticky/n.list.building
ln -s "$PWD/nowhere" sticky/n.list.building
run build sticky/n.list one.txt
expect 2 '' "unseen: error: sticky/n.list.building is a symbolic link, not a folder\n$hint"
untouched 'a link to nothing'
rm sticky/n.list.building

for make in mkfifo touch; do
    "$make" sticky/n.list.building
    run build sticky/n.list one.txt
    expect 2 '' "unseen: error: sticky/n.list.building is not a folder\n$hint"
    untouched "what $make makes"
    rm sticky/n.list.building
done

# ---- rights --------------------------------------------------------------------------------------
for pair in 000:644 022:644 027:640 077:600; do
    (umask "${pair%:*}" && unseen build "mode${pair%:*}.list" one.txt)
    holds [ "$(stat -c %a "mode${pair%:*}.list")" = "${pair#*:}" ]
done
chmod 660 mode077.list
run build mode077.list one.txt
expect 0 '' ''
holds [ "$(stat -c %a mode077.list)" = 660 ]

# Killed in the middle, so that there is something to look at.
urls 200000 200000 7 > many.txt
run build --seed 9 want.list many.txt
expect 0 '' ''
mkfifo good
(umask 000 && exec "$UNSEEN" build --known-good good --seed 9 many.list many.txt 2> err) &
building=$!
exec 7<> good
eventually [ -e many.list.building/.unseen-list ]
holds [ "$(stat -c %a many.list.building)" = 700 ]
kill -KILL "$building"
wait "$building" 2> /dev/null
building=
exec 7>&-
run build --seed 9 many.list many.txt
expect 0 '' ''
same many.list want.list
holds [ ! -e many.list.building ]

# Moved away while it is used: what has got its name is left alone.
mkdir moved
mkfifo moved/fifo
"$UNSEEN" build moved/n.list < moved/fifo 2> err > out &
building=$!
exec 3> moved/fifo
# Once it is open it is no longer found by its name.
is_open() { readlink "/proc/$building/fd/"* 2> /dev/null | grep -q 'n\.list\.building'; }
eventually is_open
mv moved/n.list.building moved/away
mkdir moved/n.list.building
cp want.list moved/n.list.building/.unseen-list
printf 'http://e.com/\n' >&3
exec 3>&-
wait "$building"
status=$?
building=
last='build in a folder that is moved away'
expect 2 '' '*'
holds grep -q '^unseen: error: .*moved' err
same want.list moved/n.list.building/.unseen-list
holds [ ! -e moved/n.list ]

# ---- another user --------------------------------------------------------------------------------
if ! $as_root || ! setpriv --reuid $nobody --clear-groups true 2> /dev/null; then
    skip 'only root can be attacked by another user here'
    finish
fi
as_nobody() {
    setpriv --reuid $nobody --regid $nobody --clear-groups "$@"
}
as_nobody mkdir -m 700 sticky/n.list.building
run build sticky/n.list one.txt
expect 2 '' "unseen: error: sticky/n.list.building belongs to another user, who could put anything there\n$hint"
untouched "another user's folder"
rmdir sticky/n.list.building

# Where links lead to is where a list is made, but not if anybody can have made them.
cp want.list ours.list
as_nobody ln -s "$PWD/ours.list" sticky/n.list
run build sticky/n.list one.txt
expect 2 '' 'unseen: error: sticky/n.list is a symbolic link that another user has made\nunseen: hint: build the list where it leads to, or remove the link\n'
same want.list ours.list
rm sticky/n.list

# A list keeps its owner, as a service may be.
cp want.list sticky/n.list
chown $nobody:$nobody sticky/n.list
chmod 640 sticky/n.list
run build --force sticky/n.list one.txt
expect 0 '' '*'
holds [ "$(stat -c '%u %g %a' sticky/n.list)" = "$nobody $nobody 640" ]
rm sticky/n.list

# The race that was won at the first try. How many builds come through depends on who is faster.
cd sticky || exit 2
race='for (1 .. 1e7) {
    mkdir "n.list.building", 0777;
    symlink "../precious", "n.list.building/.unseen-list.new";
    unlink "n.list.building/.unseen-list.new";
    rmdir "n.list.building";
}'
setpriv --reuid $nobody --regid $nobody --clear-groups perl -e "$race" > /dev/null 2>&1 &
attacker=$!
cd .. || exit 2
for _ in $(seq 30); do
    printf 'http://e.com/\n' > in
    run build sticky/n.list
    holds [ "$status" = 0 -o "$status" = 2 ]
    [ "$(cat precious)" = precious ] || complain 'the race was won'
    holds [ ! -L sticky/n.list ]
done
kill -KILL "$attacker"
wait "$attacker" 2> /dev/null
attacker=
rm -rf sticky/n.list.building
run build sticky/n.list
expect 0 '' ''

# A list that cannot get its name or its rights is no list, and the run says so.
if command -v strace > /dev/null && strace -o trace -e inject=getppid:error=EPERM:when=1 true 2> /dev/null; then
    mkdir plain
    run build plain/old.list one.txt
    for call in renameat fchmod; do # the last of each is that of the list
        failing() { # WHEN
            ASAN_OPTIONS=detect_leaks=0 strace -f -o trace -e "trace=$call" -e "inject=$call:error=EIO:when=$1" \
                "$UNSEEN" build plain/old.list one.txt > out 2> err
        }
        holds failing 1000
        last=$(grep -c "$call(" trace)
        failing "$last"
        holds [ $? = 2 ]
        holds grep -qE '^unseen: error: cannot (replace|set the rights of) .*: Input/output error$' err
    done
else
    printf 'skipped: injected errors, strace cannot run here\n'
fi
finish
