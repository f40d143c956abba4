# Who may open a store: its owner, and whom --mode names. Whatever the umask is.
. "$(dirname "$0")/lib/common.bash"
mode() {
    stat -c %a "$1"
}
printf 'http://e.com/\n' > one
seq 70000 | sed "s#^#http://e.com/#" > many

# made COMMAND... : what each way of making a store makes of it, under two umasks.
made() {
    for mask in 000 027 077; do
        rm -f new.unseen*
        (umask $mask && unseen "$@" > /dev/null 2>> messages)
        holds [ "$(mode new.unseen)" = 600 ]
        rm -f new.unseen*
        (umask $mask && unseen "$@" --mode 0640 > /dev/null 2>> messages)
        holds [ "$(mode new.unseen)" = 640 ]
    done
}
unseen add --seed 1 in.unseen one
made -s new.unseen one
made add new.unseen one
made import --format anew new.unseen one
made merge new.unseen in.unseen
made serve new.unseen < /dev/null

# What is made later has the rights of the store.
run add --mode 664 big.unseen many
expect 0 '' ''
holds [ "$(mode big.unseen.image)" = 664 ]
chmod 640 big.unseen
run rewrite big.unseen
expect 0 '' ''
holds [ "$(mode big.unseen)" = 640 ]
seq 70000 | sed "s#^#http://f.com/#" > ./more
run add --mode 640 big.unseen more
expect 0 '' ''
holds [ "$(mode big.unseen.image)" = 640 ]
flip big.unseen 20000
run repair big.unseen
expect 0 '*' '*'
holds [ "$(mode big.unseen)" = 640 ]
run merge --into big.unseen in.unseen
holds [ "$(mode big.unseen)" = 640 ]

# An exactly-once output is a file as any other; what is cut from it is not.
(umask 022 && unseen -s out.unseen -o queue one)
holds [ "$(mode queue)" = 644 ]

# Another user is told what to do.
if [ "$(id -u)" != 0 ] || ! setpriv --reuid 65534 --clear-groups true 2> /dev/null; then
    skip 'only root can be another user here'
    finish
fi
chmod 755 .
cp "$UNSEEN" tool && chmod 755 tool
setpriv --reuid 65534 --clear-groups ./tool check in.unseen one > out 2> err
status=$? last='check as another user'
expect 2 '' 'unseen: error: cannot open in.unseen: Permission denied\nunseen: hint: its owner can let a group read it: chmod 640 in.unseen\n'
chmod 644 in.unseen
setpriv --reuid 65534 --clear-groups ./tool check in.unseen one > out 2> err
status=$?
expect 0 'http://e.com/\n' ''
finish
