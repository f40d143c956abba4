#!/bin/bash
# Makes the set of a CMS from its database: for a database that was there before the set, and after a backup was
# restored. The server must not run.
#
# usage: import.sh STORE DATABASE
#
# What the store had beside that is forgotten: documents that the database lacks are new again. The store takes its
# name by a rename, when it has every row; its settings stay.
set -euo pipefail
store=${1:?usage: import.sh STORE DATABASE}
database=${2:?usage: import.sh STORE DATABASE}
fresh=$store.from-database

urls() {
    psql -X -q -At -v ON_ERROR_STOP=1 -c 'SELECT url FROM documents' -d "$database"
}

if [ -e "$store" ]; then
    unseen add --wait=0 "$store" /dev/null # says so if the server runs
    settings=(--like "$store")
else
    settings=()
fi
rm -f "$fresh" "$fresh.image"
urls | unseen add "${settings[@]}" "$fresh"
# The proof that the set is not behind; also of what was inserted meanwhile. Status 1 says that it lacks nothing; that
# of the database counts, too: half of an answer proves nothing.
lacks=$(urls | { unseen check -v -c "$fresh" || [ $? = 1 ]; })
if [ "$lacks" != 0 ]; then
    echo "$0: the set lacks $lacks documents: was the database written to meanwhile?" >&2
    exit 1
fi
mv "$fresh" "$store"
rm -f "$store.image" "$fresh.image" # of the old store: it would not be used
echo "$(unseen count "$store") documents"
