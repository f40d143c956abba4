"""What a client reads on the wire: the type of each reply and each sentence of an error, to the last byte, in both dialects
and both protocols. (redis-py hides the difference between "ERR not found" and "Not found".)"""

import os
import re
import socket

from server import Case

WRONG_TYPE = "-WRONGTYPE Operation against a key holding the wrong kind of value"
ARITY = "-ERR wrong number of arguments for '%s' command"

# A command; its reply in dialect redisbloom, line ends as |; that in dialect valkey if it is another one.
# ?1 and ?0 are numbers in RESP2 and true and false in RESP3; but numbers in BF.* of dialect valkey. ~ is the null of the
# protocol. The keys: b a filter of BF.*, n one of two items, c one of CF.*, u a set of URLs, s a string; none, k: missing.
REPLIES = (
    ("BF.RESERVE b 0.01 100", "+OK"),
    ("BF.ADD b x", "?1"),
    ("BF.ADD b x", "?0"),
    ("BF.MADD b x y", "*2|?0|?1"),
    ("BF.INSERT b ITEMS y z", "*2|?0|?1"),
    ("BF.EXISTS b x", "?1"),
    ("BF.EXISTS none x", "?0"),
    ("BF.MEXISTS b x w", "*2|?1|?0"),
    ("BF.CARD b", ":3"),
    ("BF.CARD none", ":0"),
    ("BF.RESERVE n 0.01 2 NONSCALING", "+OK"),
    ("BF.MADD n 1 2 3 4", "*3|?1|?1|-ERR non scaling filter is full"),
    ("BF.ADD n 5", "-ERR non scaling filter is full"),
    ("BF.ADD s x", WRONG_TYPE),
    ("BF.MADD s x", WRONG_TYPE),
    ("BF.INSERT s ITEMS x", WRONG_TYPE),
    ("BF.RESERVE s 0.01 100", WRONG_TYPE),
    ("BF.EXISTS s x", "?0", WRONG_TYPE),
    ("BF.MEXISTS s x y", "*2|?0|?0", WRONG_TYPE),
    ("BF.CARD s", WRONG_TYPE),
    ("BF.INFO s", WRONG_TYPE),
    ("BF.INFO none", "-ERR not found"),
    ("BF.INFO b WHAT", "-Invalid information value", "-ERR invalid information value"),
    ("BF.DEBUG none", "-ERR not found"),
    ("BF.SCANDUMP none 0", "-ERR not found"),
    ("BF.SCANDUMP b x", "-Second argument must be numeric"),
    ("BF.LOADCHUNK none x data", "-ERR Second argument must be numeric"),
    ("BF.LOADCHUNK none 1 data", "-ERR received bad data"),
    ("BF.LOAD none data", "-ERR received bad data"),
    ("BF.LOADCHUNK b 1 data", "-ERR item exists"),
    ("BF.LOAD b data", "-ERR item exists"),
    ("BF.RESERVE b 0.01 100", "-ERR item exists"),
    ("BF.RESERVE k x 100", "-ERR bad error rate"),
    ("BF.RESERVE k 0 100", "-ERR error rate must be in the range (0.000000, 1.000000)", "-ERR (0 < error rate range < 1)"),
    ("BF.RESERVE k 0.01 x", "-ERR bad capacity"),
    ("BF.RESERVE k 0.01 0", "-ERR capacity must be in the range [1, 1073741824]", "-ERR (capacity should be larger than 0)"),
    ("BF.RESERVE k 0.01 100 EXPANSION", "-ERR no expansion", "-ERROR"),
    ("BF.RESERVE k 0.01 100 EXPANSION x", "-ERR bad expansion"),
    ("BF.RESERVE k 0.01 100 EXPANSION -1", "-ERR expansion must be in the range [0, 32768]", "-ERR bad expansion"),
    ("BF.RESERVE k 0.01 100 NONSCALING EXPANSION 2", "-Nonscaling filters cannot expand", "-ERROR"),
    ("BF.RESERVE k 0.01 100 WHAT", "-ERR unknown argument received", "-ERROR"),
    ("BF.RESERVE k 1e-300 100", "-ERR could not create filter: no rate this low, 5e-9 is the least"),
    ("BF.RESERVE k", ARITY % "BF.RESERVE"),
    ("BF.INSERT k NOCREATE ITEMS x", "-ERR not found"),
    ("BF.INSERT k ERROR x ITEMS x", "-Bad error rate", "-ERR bad error rate"),
    ("BF.INSERT k EXPANSION x ITEMS x", "-Bad expansion", "-ERR bad expansion"),
    ("BF.INSERT k CAPACITY x ITEMS x", "-Bad capacity", "-ERR bad capacity"),
    ("BF.INSERT k WHAT x ITEMS x", "-Unknown argument received", "-ERR unknown argument received"),
    ("BF.INSERT k TIGHTENING x ITEMS x", "-Unknown argument received", "-ERR bad tightening ratio"),
    ("BF.INSERT k TIGHTENING 1 ITEMS x", "-Unknown argument received", "-ERR (0 < tightening ratio range < 1)"),
    ("BF.INSERT k SEED short ITEMS x", "-Unknown argument received", "-ERR invalid seed"),
    ("BF.INSERT k VALIDATESCALETO x ITEMS x", "-Unknown argument received", "-ERR bad validate scale to"),
    ("BF.INSERT k NONSCALING VALIDATESCALETO 9 ITEMS x", "-Unknown argument received",
     "-ERR cannot use NONSCALING and VALIDATESCALETO options together"),
    ("CF.RESERVE c 1000", "+OK"),
    ("CF.ADD c x", "?1"),
    ("CF.ADD c x", "?1"),
    ("CF.ADDNX c x", "?0"),
    ("CF.ADDNX c y", "?1"),
    ("CF.INSERT c ITEMS x z", "*2|?1|?1"),
    ("CF.INSERTNX c ITEMS x w", "*2|:0|:1"),
    ("CF.EXISTS c x", "?1"),
    ("CF.EXISTS none x", "?0"),
    ("CF.EXISTS s x", "?0"),
    ("CF.MEXISTS c x q", "*2|?1|?0"),
    ("CF.MEXISTS s x", "*1|?0"),
    ("CF.COUNT c x", ":3"),
    ("CF.COUNT none x", ":0"),
    ("CF.COUNT s x", ":0"),
    ("CF.DEL c x", "?1"),
    ("CF.DEL c q", "?0"),
    ("CF.DEL none x", "-Not found"),
    ("CF.DEL s x", WRONG_TYPE),
    ("CF.COMPACT c", "+OK"),
    ("CF.COMPACT none", "-Cuckoo filter was not found"),
    ("CF.INFO none", "-ERR not found"),
    ("CF.DEBUG none", "-ERR not found"),
    ("CF.SCANDUMP none 0", "-ERR not found"),
    ("CF.SCANDUMP c x", "-Invalid position"),
    ("CF.LOADCHUNK none x data", "-Invalid position"),
    ("CF.LOADCHUNK none 1 data", "-ERR received bad data"),
    ("UNSEEN.SCANDUMP none 0", "-ERR not found"),
    ("UNSEEN.LOADCHUNK none x data", "-ERR Second argument must be numeric"),
    ("UNSEEN.LOADCHUNK none 1 data", "-ERR received bad data"),
    ("CF.RESERVE c 1000", "-ERR item exists"),
    ("CF.RESERVE k x", "-Bad capacity"),
    ("CF.RESERVE k 3", "-Capacity must be in the range [2 * BUCKETSIZE, 1073741824]"),
    ("CF.RESERVE k 1073741825", "-Capacity must be in the range [2 * BUCKETSIZE, 1073741824]"),
    ("CF.RESERVE k 1000 MAXITERATIONS x", "-Couldn't parse MAXITERATIONS"),
    ("CF.RESERVE k 1000 MAXITERATIONS 0", "-MAXITERATIONS: value must be in the range [1, 65535]"),
    ("CF.RESERVE k 1000 BUCKETSIZE x", "-Couldn't parse BUCKETSIZE"),
    ("CF.RESERVE k 1000 BUCKETSIZE 256", "-BUCKETSIZE: value must be in the range [1, 255]"),
    ("CF.RESERVE k 1000 EXPANSION x", "-Couldn't parse EXPANSION"),
    ("CF.RESERVE k 1000 EXPANSION 32769", "-EXPANSION: value must be in the range [0, 32768]"),
    ("CF.RESERVE k 1000 WHAT 1", "-Unknown argument received"),
    ("CF.RESERVE k 1000 BUCKETSIZE", ARITY % "CF.RESERVE"),
    ("CF.INSERT k NOCREATE ITEMS x", "-ERR not found"),
    ("CF.INSERT k CAPACITY x ITEMS x", "-Bad capacity"),
    ("CF.INSERT k CAPACITY 1 ITEMS x", "-Capacity must be in the range [cf-bucket-size * 2, 1073741824]"),
    ("CF.INSERT k WHAT ITEMS x", "-Unknown argument received"),
    ("CF.ADD s x", WRONG_TYPE),
    ("CF.ADD b x", WRONG_TYPE),
    ("BF.ADD c x", WRONG_TYPE),
    ("BF.EXISTS c x", "?0", WRONG_TYPE),
    ("UNSEEN.RESERVE u PROFILE none FPR 1e-6", "+OK"),
    ("UNSEEN.ADD u x y x", "*3|:1|:1|:0"),
    ("UNSEEN.EXISTS u x q", "*2|:1|:0"),
    ("UNSEEN.EXISTS none x", "*1|:0"),
    ("UNSEEN.EXISTS s x", WRONG_TYPE),
    ("UNSEEN.REMOVE u y q", "*2|:1|:0"),
    ("UNSEEN.REMOVE none x", "*1|:0"),
    ("UNSEEN.CLAIM u 60 x c", "*2|:0|:1"),
    ("UNSEEN.CLAIM u 60 c", "*1|:-1"),
    ("UNSEEN.CLAIM none 60 x", "-ERR not found"),
    ("UNSEEN.CLAIM u 0 x", "-ERR the time to live must be 1 to 1000000000 seconds"),
    ("UNSEEN.RENEW u 60 c q", "*2|:1|:0"),
    ("UNSEEN.ACK u c", "*1|:1"),
    ("UNSEEN.INFO none", "-ERR not found"),
    ("UNSEEN.RESERVE u", "-ERR item exists"),
    ("UNSEEN.RESERVE k MAXBYTES 0", "-ERR MAXBYTES must be a number of bytes above 0"),
    ("UNSEEN.RESERVE k PROFILE nothing", "-ERR there is no such profile of URL identity"),
    ("UNSEEN.RESERVE k FPR 1e-300", "-ERR could not create filter: no rate this low, 5e-9 is the least"),
    ("UNSEEN.MERGE u none", "-ERR not found"),
    ("UNSEEN.RESERVE other FPR 5e-9", "+OK"),
    ("UNSEEN.ADD other x", "*1|:1"),
    ("UNSEEN.MERGE u other", "-ERR only different sets with one secret, one profile and one rate can be merged"),
    ("UNSEEN.RESERVE w WINDOW 10x", "-ERR WINDOW must be 1s to 100y: 90s, 10m, 1.5h, 30d, 2w, 1y or a number of seconds"),
    ("BF.RESERVE w 0.01 100 NONSCALING WINDOW 1d", "-ERR a NONSCALING set cannot remove, so it has no window; one that scales has"),
    ("CF.RESERVE w 100 WINDOW 1d", "-ERR a set that counts has no window; those of BF.RESERVE and UNSEEN.RESERVE have"),
    ("UNSEEN.RESERVE w PROFILE none FPR 1e-6 WINDOW 1d", "+OK"),
    ("UNSEEN.MERGE u w", "-ERR a set with a window cannot be merged: its keys have times"),
    ("BF.RESERVE bw 0.01 100 WINDOW 90s", "+OK"),
    ("BF.SCANDUMP bw 0", "-ERR a set with a window changes between its chunks: DUMP and RESTORE it"),
    ("GUARD.GET bw x", "-ERR a set with a window forgets keys that exist: it cannot guard them"),
    ("UNSEEN.SHARD u SHARDS 4 PROFILE none x", "*1|$5|u:{1}"),
    ("UNSEEN.SHARD u SHARDS 0 x", "-ERR SHARDS must be 1 to 16384"),
    ("UNSEEN.SHARD u{t} x", "-ERR a name with a brace would have a tag of its own"),
    ("UNSEEN.APPLY u + data", "-ERR damaged change"),
    ("UNSEEN.APPLY none + data", "-ERR not found"),
    ("UNSEEN.CREATE k data", "-ERR damaged change"),
    ("UNSEEN.LOAD k FIRST data", "-ERR received bad data"),
    ("GUARD.GET b absent", "*2|+absent|~"),
    ("GUARD.GET b x LEASE 0", "-ERR LEASE must be 1 to 3600000 milliseconds"),
    ("GUARD.GET b x WAIT -1", "-ERR WAIT must be 0 to 3600000 milliseconds"),
    ("GUARD.GET b x WHAT 1", "-ERR syntax error"),
    ("GUARD.SET x token v", ":0"),
    ("GUARD.SET x token v PX 0", "-ERR PX must be 1 to 1000000000000 milliseconds"),
    ("GUARD.FAIL x token", ":0"),
    ("GUARD.DEL x", ":0"),
    # Without memory for it. The limit is for keys that are created later.
    ("CONFIG SET bf.maxbytes 8", "+OK", None),
    ("CONFIG SET bf.bloom-memory-usage-limit 8", None, "+OK"),
    ("BF.RESERVE k 0.01 21000", "-ERR Insufficient memory to create filter", "-ERR operation exceeds bloom object memory limit"),
    ("BF.INSERT k VALIDATESCALETO 1000000 ITEMS x", "-Unknown argument received",
     "-ERR provided VALIDATESCALETO causes bloom object to exceed memory limit"),
    ("CONFIG SET bf.maxbytes 16", "+OK", None),
    ("CONFIG SET bf.bloom-memory-usage-limit 16", None, "+OK"),
    ("BF.RESERVE tiny 0.01 100", "+OK"),
    ("CONFIG SET bf.maxbytes 0", "+OK", None),
    ("CONFIG SET bf.bloom-memory-usage-limit 0", None, "+OK"),
    ("BF.MADD tiny 1 2 3 4 5 6 7 8", "*7|?1|?1|?1|?1|?1|?1|-ERR the key has reached its MAXBYTES, nothing was lost",
     "*7|?1|?1|?1|?1|?1|?1|-ERR operation exceeds bloom object memory limit"),
    ("BF.ADD tiny 8", "-ERR the key has reached its MAXBYTES, nothing was lost", "-ERR operation exceeds bloom object memory limit"),
    ("BF.ADD tiny 6", "?0"),
)

# One field, or all: an array in RESP2, a map in RESP3; in dialect valkey bare, and an array.
FIELDS = (
    ("BF.INFO b ITEMS", "Number of items inserted", ":3"),
    ("BF.INFO b CAPACITY", "Capacity", ":100"),
    ("BF.INFO b EXPANSION", "Expansion rate", ":2"),
    ("BF.INFO n EXPANSION", "Expansion rate", "~"),
)

# Sentences that need more than one command; the test that has them.
ELSEWHERE = {
    "ERR problem inserting into filter": "none: the memory of the machine is used up",
    "ERR Insufficient memory": "none: the same, CF.ADD",
    "ERR a set was renamed or replaced meanwhile: merge again": "test_merge.test_another_set_comes",
    "ERR more than 1000000 items in one command": "test_limits.test_items",
    "ERR a set this large cannot be made in a transaction or script: reserve it before":
        "test_steps.test_huge_where_nobody_waits",
    "ERR the data was written by another version of this module": "test_payloads.test_another_version",
    "READONLY a replica may be behind: ask the primary": "test_guard.test_replica_and_restart",
    "ERR the server has become a replica: ask its primary again": "test_steps.test_memory_is_given_back: the server says UNBLOCKED first",
    "TRYAGAIN the slot of the key moves to another node: ask again": "test_cluster.test_moved_meanwhile",
    "ERR another load of this key has begun": "test_steps.test_another_load",
    "ERR another command began this load: begin again with the first chunk": "test_steps.test_mixed_commands",
    "ERR the server has loaded another data set: load again": "test_steps.test_data_set_is_loaded",
    "OOM no lease past maxmemory: load the value without one": "test_guard.test_maxmemory",
    "ERR too many loads at once: try again when one has ended": "test_steps.test_too_many_at_once",
    "OOM command not allowed when used memory > 'maxmemory'.": "test_steps.test_maxmemory",
}


class Wire:
    """A connection that returns replies as the server sent them, line ends as |."""

    def __init__(self, port, protocol):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.file = self.socket.makefile("rb")
        if protocol == 3:
            self("HELLO 3")

    def read(self):
        line = self.file.readline()
        if line[:1] == b"$" and line[1:2] != b"-":
            return line + self.file.read(int(line[1:]) + 2)
        nvalues = int(line[1:]) * (2 if line[:1] == b"%" else 1) if line[:1] in b"*%" else 0
        return line + b"".join(self.read() for _ in range(nvalues))

    def __call__(self, command):
        words = command.split()
        self.socket.sendall("".join([f"*{len(words)}\r\n"] + [f"${len(w)}\r\n{w}\r\n" for w in words]).encode())
        return self.read().decode()[:-2].replace("\r\n", "|")

    def close(self):
        self.file.close()
        self.socket.close()


def sentences():
    """All sentences of module/server/errors.h."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../module/server/errors.h")) as f:
        text = f.read()
    return set(re.findall(r'"([^"]*)"', text[text.index("#define ERRORS(X)"):]))


class Replies:
    def check(self, protocol):
        valkey = self.module_arguments == ("dialect", "valkey")
        wire = Wire(self.server.port, protocol)
        wire("SET s 1")
        seen = ""
        for command, *replies in REPLIES:
            expected = replies[-1] if valkey else replies[0]
            if expected is None:
                continue
            is_number = protocol == 2 or (valkey and command.startswith("BF."))
            for sign, number, word in ("?1", ":1", "#t"), ("?0", ":0", "#f"), ("~", "$-1", "_"):
                expected = expected.replace(sign, word if not is_number or (sign == "~" and protocol == 3) else number)
            self.assertEqual(wire(command), expected, command)
            seen += expected
        self.assertEqual(wire("EXISTS k none"), ":0")
        for command, name, value in FIELDS:
            value = value.replace("~", "_" if protocol == 3 else "$-1")
            expected = value if valkey else f"%1|+{name}|{value}" if protocol == 3 else f"*1|{value}"
            self.assertEqual(wire(command), expected, command)
        self.assertTrue(wire("BF.INFO b").startswith("*16|" if valkey else "%5|" if protocol == 3 else "*10|"))
        self.assertTrue(wire("CF.INFO c").startswith("%8|" if protocol == 3 else "*16|"))
        self.assertTrue(wire("UNSEEN.INFO u").startswith("%7|" if protocol == 3 else "*14|"))
        wire.close()

    def test_resp2(self):
        self.check(2)

    def test_resp3(self):
        self.check(3)


class RedisBloom(Replies, Case):
    module_arguments = ("dialect", "redisbloom")

    def test_all_sentences(self):
        """Each sentence that the module knows is in a test."""
        known = "".join(reply or "" for _, *replies in REPLIES for reply in replies)
        self.assertEqual({s for s in sentences() if "-" + s not in known and s not in ELSEWHERE}, set())


class Valkey(Replies, Case):
    module_arguments = ("dialect", "valkey")
