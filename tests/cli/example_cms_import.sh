# examples/cms/import.sh with a database that goes away, or changes, while it is read. A script plays psql, so this runs
# without PostgreSQL; example_cms.py has the real one.
. "$(dirname "$0")/lib/common.bash"
import=$TESTS/../examples/cms/import.sh
mkdir bin
ln -s "$UNSEEN" bin/unseen
PATH=$PWD/bin:$PATH

# database FIRST SECOND: what psql does at the first call, and at the second.
database() {
    rm -f calls
    printf '#!/bin/bash\necho >> calls\n[ "$(wc -l < calls)" = 1 ] && { %s; } || { %s; }\n' "$1" "$2" > bin/psql
    chmod +x bin/psql
}

import() {
    last=import.sh
    bash "$import" made.unseen database > out 2> err
    status=$?
}

two='echo http://e.com/a; echo http://e.com/b'
gone='echo gone >&2; exit 2'
database "$two" "$two"
import
expect 0 '2 documents\n' ''
printf 'http://e.com/a\n' > in
for second in "$gone" "echo http://e.com/a; ${gone}" "$two; echo http://e.com/c"; do
    database 'echo http://e.com/d' "$second"
    import
    [ "$status" != 0 ] || complain "import.sh took what it could not prove: $second"
    expect "$status" '' '*'
    # The store is the one before.
    run check made.unseen
    expect 0 'http://e.com/a\n' ''
done
database "$gone" "$two"
import
expect 2 '' 'gone\n'
finish
