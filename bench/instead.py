# SPDX-License-Identifier: MIT
"""What people write to know which URLs they have seen, as good as it is usually written.

    instead.py WAY [ADDRESS] < LINES > NEW-LINES

prints each line that is new, and at the end one line "bytes N" to standard error: what the memory
of the URLs took, where the process's own memory is not that. ADDRESS is a file for SQLite, the
folder of a socket for PostgreSQL, a socket for Redis. SQL and Redis work in batches of 1,000 lines:
a transaction each, or a pipeline. See instead.sh.
"""
import hashlib
import os
import socket
import sqlite3
import sys

BATCH = 1000
lines = sys.stdin.buffer
out = sys.stdout.buffer


def batches():
    batch = []
    for line in lines:
        batch.append(line.rstrip(b"\n"))
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def put(line):
    out.write(line + b"\n")


def in_set(key):
    seen = set()
    for line in lines:
        k = key(line)
        if k not in seen:
            seen.add(k)
            out.write(line)


def sqlite(address, exists):
    db = sqlite3.connect(address, isolation_level=None)
    db.execute("CREATE TABLE seen (url BLOB PRIMARY KEY) WITHOUT ROWID")
    for batch in batches():
        db.execute("BEGIN")
        for line in batch:
            if exists:
                if db.execute("SELECT 1 FROM seen WHERE url = ?", (line,)).fetchone():
                    continue
                db.execute("INSERT INTO seen VALUES (?)", (line,))
                put(line)
            elif db.execute("INSERT OR IGNORE INTO seen VALUES (?)", (line,)).rowcount:
                put(line)
        db.execute("COMMIT")
    db.close()
    return os.stat(address).st_size


def postgres(address, exists):
    import psycopg2
    import psycopg2.extras

    db = psycopg2.connect(host=address, dbname="postgres", user="postgres")
    cursor = db.cursor()
    cursor.execute("CREATE TABLE seen (url bytea PRIMARY KEY)")
    db.commit()
    for batch in batches():
        once = list(dict.fromkeys(batch))
        if exists:
            cursor.execute("SELECT url FROM seen WHERE url = ANY(%s)", (once,))
            known = {bytes(row[0]) for row in cursor.fetchall()}
            once = [line for line in once if line not in known]
        if not once:
            continue
        rows = psycopg2.extras.execute_values(
            cursor,
            "INSERT INTO seen VALUES %s ON CONFLICT DO NOTHING RETURNING url",
            [(line,) for line in once],
            page_size=BATCH,
            fetch=True,
        )
        for row in rows:
            put(bytes(row[0]))
        db.commit()
    cursor.execute("SELECT pg_total_relation_size('seen')")
    size = cursor.fetchone()[0]
    db.close()
    return size


class Redis:
    def __init__(self, address):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(address)
        self.replies = self.socket.makefile("rb")

    def send(self, commands):
        self.socket.sendall(
            b"".join(
                b"*%d\r\n%s"
                % (len(c), b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in c))
                for c in commands
            )
        )

    def reply(self):
        line = self.replies.readline()
        if line[:1] == b"$":
            return self.replies.read(int(line[1:]) + 2)
        if line[:1] != b":":
            raise RuntimeError(line)
        return int(line[1:])

    def memory(self):
        self.send([[b"INFO", b"memory"]])
        for line in self.reply().split(b"\r\n"):
            if line.startswith(b"used_memory:"):
                return int(line[12:])


def redis(address):
    server = Redis(address)
    before = server.memory()
    for batch in batches():
        server.send([[b"SADD", b"seen", line] for line in batch])
        for line in batch:
            if server.reply():
                put(line)
    return server.memory() - before


def main():
    way, address = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None
    ways = {
        "set-url": lambda: in_set(lambda line: line),
        "set-md5": lambda: in_set(lambda line: hashlib.md5(line).digest()),
        "set-sha1": lambda: in_set(lambda line: hashlib.sha1(line).digest()),
        "sqlite-unique": lambda: sqlite(address, False),
        "sqlite-exists": lambda: sqlite(address, True),
        "postgres-unique": lambda: postgres(address, False),
        "postgres-exists": lambda: postgres(address, True),
        "redis-set": lambda: redis(address),
        "nothing": lambda: [out.write(line) for line in lines] and None,
    }
    size = ways[way]()
    out.flush()
    if size is not None:
        print("bytes", size, file=sys.stderr)


main()
