# examples/cms: crawlers in Python and upload forms in Go on one set, in front of a real PostgreSQL; they and
# the set's server are killed. The runs are in example_cms.py; UNSEEN_CRASH_SCALE=10 makes them ten times as long.
# Label: once all
# Time: long
. "$(dirname "$0")/lib/common.bash"
. "$TESTS/cli/lib/examples.bash"

needs python3 go
[ -d /usr/share/gocode/src/github.com/lib/pq ] || skip 'no lib/pq (Debian: golang-github-lib-pq-dev)'
ls /usr/lib/postgresql/*/bin/postgres > /dev/null 2>&1 || skip 'no PostgreSQL (Debian: postgresql)'
for python in python3 /usr/bin/python3; do
    "$python" -c 'import psycopg2' 2> /dev/null && break
    python=
done
[ -n "$python" ] || skip 'no psycopg2 (Debian: python3-psycopg2)'

mkdir bin
ln -s "$UNSEEN" bin/unseen
PATH=$PWD/bin:$PATH
go_replace=github.com/lib/pq=/usr/share/gocode/src/github.com/lib/pq
go_example cms/upload upload
python_example example_cms.py "$go_program"
finish
