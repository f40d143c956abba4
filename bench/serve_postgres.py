# SPDX-License-Identifier: MIT
"""Clients of a PostgreSQL server, which ask whether URLs are new as bench_serve does: batches in which half
of the URLs are known, by a statement that finds and inserts. bench/serve.sh runs it.

    serve_postgres.py unique|exists FOLDER PID CLIENTS BATCH ROUNDS SEED

unique: INSERT ... ON CONFLICT DO NOTHING. exists: SELECT, then INSERT of what is not there. PID is the
server's; the CPU time is that of all its processes. Prints a line as bench_serve does."""

import os
import sys
import threading
import time

import psycopg2

way, folder = sys.argv[1:3]
pid, nclients, batch, rounds, seed = map(int, sys.argv[3:8])
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_of(pid, with_ended):
    """User and system time of a process, and of those that it has waited for, in seconds."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return sum(map(int, fields[11 : 15 if with_ended else 13])) / TICKS


def cpu_of_all():
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        children = file.read().split()
    return cpu_of(pid, True) + sum(cpu_of(int(child), False) for child in children)


def connect():
    db = psycopg2.connect(host=folder, dbname="postgres", user="postgres")
    db.autocommit = True
    cursor = db.cursor()
    cursor.execute("SET synchronous_commit = off")  # as unseen serve: answered, then durable
    return db, cursor


def mix(x):
    mask = (1 << 64) - 1
    x ^= x >> 33
    x = x * 0xFF51AFD7ED558CCD & mask
    x ^= x >> 33
    x = x * 0xC4CEB9FE1A85EC53 & mask
    return x ^ x >> 33


def urls_of(client, round):
    """Two clients draw the same."""
    first = seed + ((client // 2 if nclients > 1 else client) * rounds + round) * batch
    ids = [mix(first + i) for i in range(batch)]
    return [f"https://www.example-{n % 1000}.com/articles/{n >> 20}/page-{n % 97}.html" for n in ids]


def ask(cursor, urls):
    """How many were new."""
    if way == "unique":
        cursor.execute("INSERT INTO seen SELECT unnest(%s) ON CONFLICT DO NOTHING RETURNING url", (urls,))
        return cursor.rowcount
    cursor.execute("SELECT url FROM seen WHERE url = ANY(%s)", (urls,))
    known = {url for url, in cursor.fetchall()}
    new = [url for url in urls if url not in known]
    # Another client may have been faster.
    cursor.execute("INSERT INTO seen SELECT unnest(%s::text[]) ON CONFLICT DO NOTHING", (new,))
    return cursor.rowcount


def run(client):
    db, cursor = connect()
    for round in range(rounds):
        nnew[client] += ask(cursor, urls_of(client, round))
    db.close()


db, cursor = connect()
cursor.execute("DROP TABLE IF EXISTS seen")
cursor.execute("CREATE TABLE seen (url text PRIMARY KEY)")
nnew = [0] * nclients
before, began = cpu_of_all(), time.monotonic()
threads = [threading.Thread(target=run, args=(i,)) for i in range(nclients)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
wall = time.monotonic() - began
time.sleep(0.2)  # the server waits for its processes
cpu = cpu_of_all() - before
n = nclients * batch * rounds
cursor.execute("SELECT count(*) FROM seen")
assert cursor.fetchone()[0] == sum(nnew), nnew
print(f"postgres-{way} clients {nclients} batch {batch} urls {n} new {sum(nnew)} cpu_ns {cpu / n * 1e9:.1f} "
      f"per_cpu_second {n / cpu:.0f} per_second {n / wall:.0f}")
