"""A small server with a filter as RedisBloom makes it: BF.SCANDUMP, AUTH and SELECT. Written after the description of
the format; no package has RedisBloom.

usage: import_redis.py PORT_FILE MEMBERS OTHERS WANTED    WANTED gets those of OTHERS that the filter takes for members
       FAULT in the environment: what is wrong with the answers"""

import math
import os
import socket
import struct
import sys

MASK = (1 << 64) - 1
M = 0xC6A4A7935BD1E995
FAULT = os.environ.get("FAULT", "")
CHUNK = int(os.environ.get("CHUNK", "1000"))


def murmur64a(data, seed):
    h = seed ^ (len(data) * M & MASK)
    whole = len(data) // 8 * 8
    for i in range(0, whole, 8):
        k = int.from_bytes(data[i : i + 8], "little") * M & MASK
        k = (k ^ k >> 47) * M & MASK
        h = (h ^ k) * M & MASK
    if rest := data[whole:]:
        h = (h ^ int.from_bytes(rest, "little")) * M & MASK
    h = (h ^ h >> 47) * M & MASK
    return h ^ h >> 47


class Link:
    def __init__(self, capacity, rate, power=0):
        self.capacity, self.rate, self.power, self.size = capacity, rate, power, 0
        self.bits_per_key = -math.log(rate) / math.log(2) ** 2
        self.hashes = math.ceil(math.log(2) * self.bits_per_key)
        self.nbits = 1 << power if power else (int(capacity * self.bits_per_key) + 63) // 64 * 64
        self.bits = bytearray(self.nbits // 8)

    def places(self, item):
        a = murmur64a(item, M)
        b = murmur64a(item, a)
        return [((a + i * b) & MASK) % self.nbits for i in range(self.hashes)]

    def add(self, item):
        for p in self.places(item):
            self.bits[p // 8] |= 1 << p % 8
        self.size += 1

    def has(self, item):
        return all(self.bits[p // 8] >> p % 8 & 1 for p in self.places(item))

    def head(self):
        nbytes = len(self.bits) + (8 if FAULT == "bytes" else 0)
        hashes = 0 if FAULT == "hashes" else self.hashes
        return struct.pack("<QQQddIQB", nbytes, 1 << 62 if FAULT == "bits" else self.nbits, self.size, self.rate,
                           self.bits_per_key, hashes, self.capacity, self.power)


members = open(sys.argv[2], "rb").read().split(b"\n")[:-1]
links = [Link(1000, 0.005), Link(2000, 0.0025, power=15), Link(100_000, 0.00125)]
sizes = [1000, 2000, len(members) - 3000]
if os.path.exists("filter"):  # of the server before: the filter is always the same
    with open("filter", "rb") as file:
        for link, size in zip(links, sizes):
            link.bits, link.size = bytearray(file.read(len(link.bits))), size
else:
    for n, item in enumerate(members):
        links[0 if n < 1000 else 1 if n < 3000 else 2].add(item)
    with open(sys.argv[4], "wb") as wanted:
        for item in open(sys.argv[3], "rb").read().split(b"\n")[:-1]:
            if any(link.has(item) for link in links):
                wanted.write(item + b"\n")
    assert [link.size for link in links] == sizes
    with open("filter.new", "wb") as file:
        file.write(b"".join(bytes(link.bits) for link in links))
    os.rename("filter.new", "filter")

nlinks = {"links": 1 << 31, "nolinks": 0}.get(FAULT, len(links))
options = 1 if FAULT == "old" else 5
header = struct.pack("<QIII", len(members), nlinks, options, 2) + b"".join(link.head() for link in links)
if FAULT == "cut":
    header = header[:30]
body = b"".join(bytes(link.bits) for link in links)
if FAULT == "short":
    body = body[:-8]
if FAULT == "long":
    body += bytes(8)


def bulk(data):
    return b"$%d\r\n%s\r\n" % (len(data), data)


def pair(position, data):
    return b"*2\r\n:%d\r\n%s" % (position, bulk(data))


def dump(key, position):
    if key != b"crawl":
        return b"-ERR not found\r\n"
    if FAULT == "command":
        return b"-ERR unknown command 'BF.SCANDUMP', with args beginning with: \r\n"
    if FAULT == "type":
        return b"-WRONGTYPE Operation against a key holding the wrong kind of value\r\n"
    if FAULT == "circle" and position > 1:
        return pair(position, b"x" * 8)
    if FAULT == "shape":
        return b"*2\r\n:1\r\n:2\r\n"
    if position == 0:
        return pair(1, header)
    at = position - 1
    size = 0  # a chunk does not go over the end of a link
    for link in links:
        size += len(link.bits)
        if at < size:
            break
    end = min(at + CHUNK, size) if at < size else len(body)
    piece = body[at:end]
    if FAULT == "lost" and at > 5000:
        os._exit(0)
    return pair(position + len(piece), piece) if piece else pair(0, b"")


def words(stream):
    line = stream.readline()
    if not line:
        return None
    return [stream.read(int(stream.readline()[1:]) + 2)[:-2] for _ in range(int(line[1:]))]


listener = socket.create_server(("127.0.0.1", 0))
with open(sys.argv[1] + ".new", "w") as f:
    f.write(str(listener.getsockname()[1]))
os.rename(sys.argv[1] + ".new", sys.argv[1])
while True:
    connection = listener.accept()[0]
    with connection, connection.makefile("rb") as stream:
        is_known = False
        while command := words(stream):
            if command[0] == b"AUTH":
                is_known = command[1:] == [b"ann", b"p/w"] or command[1:] == [b"p/w"]
                connection.sendall(b"+OK\r\n" if is_known else b"-WRONGPASS invalid username-password pair\r\n")
            elif FAULT == "auth" and not is_known:
                connection.sendall(b"-NOAUTH Authentication required.\r\n")
            elif command[0] == b"SELECT":
                connection.sendall(b"+OK\r\n")
            elif command[0] == b"BF.SCANDUMP":
                connection.sendall(dump(command[1], int(command[2])))
            else:
                connection.sendall(b"-ERR unknown command\r\n")
