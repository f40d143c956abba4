#!/usr/bin/env python3
"""Keys as docs/format.md says, slowly: a second implementation that shares no code with src/hash.

    keys.py           prints keys.tsv
    keys.py shards    prints shards.tsv
    keys.py check     compares keys.tsv, shards.tsv and the examples in docs/format.md with it

A row of keys.tsv is the seed, the length of the input, hi and lo. Byte i of an input is
(167 i + 13) modulo 256.

A row of shards.tsv is the number of shards, an identity in hexadecimal digits and its shard; or the
number of shards, a shard and its tag, with a minus before the shard.
"""

import binascii
import hashlib
import pathlib
import re
import sys

M64 = (1 << 64) - 1
M128 = (1 << 128) - 1


def blake2b(size, person, data=b"", key=b""):
    return hashlib.blake2b(data, digest_size=size, key=key, person=person.ljust(16, b"\0")).digest()


def words(data):
    return [int.from_bytes(data[i : i + 8], "little") for i in range(0, len(data), 8)]


class Keys:
    """The keys of one seed."""

    def __init__(self, seed):
        self.secret = blake2b(32, b"unseen seed", seed)
        stream = b"".join(
            blake2b(64, b"unseen keys", i.to_bytes(8, "little"), self.secret) for i in range(17)
        )
        self.sip_key = words(stream[:16])
        self.nh_key = words(stream[16 : 16 + 130 * 8])

    def seed_id(self):
        return words(blake2b(16, b"unseen id", b"", self.secret))[0]

    def nh(self, pairs):
        out = b""
        for lane in (0, 2):
            total = 0
            for i, (x, y) in enumerate(pairs):
                k = self.nh_key[2 * i + lane : 2 * i + lane + 2]
                total += ((x + k[0]) & M64) * ((y + k[1]) & M64)
            out += (total & M128).to_bytes(16, "little")
        return out

    def digests(self, data):
        n = len(data)
        if n < 16:
            if n >= 8:
                pair = words(data[:8]) + words(data[-8:])
            elif n >= 4:
                pair = [int.from_bytes(part, "little") for part in (data[:4], data[-4:])]
            elif n > 0:
                pair = [data[0] | data[n // 2] << 8 | data[-1] << 16, 0]
            else:
                pair = [0, 0]
            return self.nh([pair])
        out = b""
        for start in range(0, n, 1024):
            end = min(start + 1024, n)
            places = list(range(start, max(end - 16, start), 16)) + [end - 16]
            out += self.nh([words(data[at : at + 16]) for at in places])
        return out

    def key(self, data):
        message = self.digests(data) + len(data).to_bytes(7, "little")
        first, second = siphash_1_3_128(self.sip_key, message)
        return first, second  # hi, lo


def rotate(x, n):
    return (x << n | x >> (64 - n)) & M64


def siphash_1_3_128(key, message):
    v = [
        key[0] ^ 0x736F6D6570736575,
        key[1] ^ 0x646F72616E646F6D ^ 0xEE,
        key[0] ^ 0x6C7967656E657261,
        key[1] ^ 0x7465646279746573,
    ]

    def rounds(n):
        for _ in range(n):
            v[0] = (v[0] + v[1]) & M64
            v[1] = rotate(v[1], 13) ^ v[0]
            v[0] = rotate(v[0], 32)
            v[2] = (v[2] + v[3]) & M64
            v[3] = rotate(v[3], 16) ^ v[2]
            v[0] = (v[0] + v[3]) & M64
            v[3] = rotate(v[3], 21) ^ v[0]
            v[2] = (v[2] + v[1]) & M64
            v[1] = rotate(v[1], 17) ^ v[2]
            v[2] = rotate(v[2], 32)

    whole = len(message) - len(message) % 8
    last = message[whole:].ljust(7, b"\0") + bytes([len(message) % 256])
    for word in words(message[:whole] + last):
        v[3] ^= word
        rounds(1)
        v[0] ^= word
    v[2] ^= 0xEE
    rounds(3)
    first = v[0] ^ v[1] ^ v[2] ^ v[3]
    v[1] ^= 0xDD
    rounds(3)
    return first, v[0] ^ v[1] ^ v[2] ^ v[3]


def sample(n):
    return bytes((167 * i + 13) % 256 for i in range(n))


def rows():
    lengths = list(range(0, 70)) + [95, 96, 97, 127, 128, 129, 255, 256, 1000]
    lengths += list(range(1007, 1042)) + [2047, 2048, 2049, 2063, 2064, 5000, 65536]
    for seed in (b"unseen", b"\0", b"a longer seed, of more bytes than a block of BLAKE2b" * 3):
        keys = Keys(seed)
        yield seed, "id", keys.seed_id(), 0
        for n in lengths:
            hi, lo = keys.key(sample(n))
            yield seed, n, hi, lo


def text():
    return "".join(f"{seed.hex()}\t{n}\t{hi:016x}\t{lo:016x}\n" for seed, n, hi, lo in rows())


def shard(keys, identity, n):
    hi, lo = keys.key(identity)
    hi, _ = keys.key(hi.to_bytes(8, "little") + lo.to_bytes(8, "little"))
    return (hi >> 32) * n >> 32


def tag(i, n):
    t = 0
    while not i * 16384 <= binascii.crc_hqx(str(t).encode(), 0) % 16384 * n < (i + 1) * 16384:
        t += 1
    return t


def shards_text():
    keys = Keys(b"unseen shards")
    out = ""
    for n in (1, 2, 3, 16, 20, 1024, 1000000, 2**32 - 1):
        for identity in [b"", b"x", b"http://example.com/", b"http://example.com/?" + sample(1100)] + [
            b"http://example.com/%d" % i for i in range(20)
        ]:
            out += f"{n}\t{identity.hex()}\t{shard(keys, identity, n)}\n"
    for n in (1, 2, 3, 16, 20, 256, 1000, 16384):
        for i in sorted({0, 1, 2, 15, 19, n // 2, n - 2, n - 1}):
            if 0 <= i < n:
                out += f"{n}\t-{i}\t{tag(i, n)}\n"
    return out


def check():
    here = pathlib.Path(__file__).resolve().parent
    good = here.joinpath("keys.tsv").read_text() == text()
    if not good:
        print("keys.tsv is not what keys.py prints")
    if here.joinpath("shards.tsv").read_text() != shards_text():
        print("shards.tsv is not what keys.py shards prints")
        good = False
    page = here.parent.parent.joinpath("docs", "format.md").read_text()
    examples = re.findall(r"^\| `([^`]+)` \| `([^`]*)` \| `([0-9a-f]{16})` \| `([0-9a-f]{16})` \|$", page, re.M)
    if len(examples) < 3:
        print("docs/format.md has no examples of keys")
        good = False
    for seed, identity, hi, lo in examples:
        want = "%016x %016x" % Keys(seed.encode()).key(identity.encode())
        if want != f"{hi} {lo}":
            print(f"docs/format.md: the key of {identity!r} under {seed!r} is {want}")
            good = False
    return 0 if good else 1


if __name__ == "__main__":
    if sys.argv[1:] == ["check"]:
        sys.exit(check())
    sys.stdout.write(shards_text() if sys.argv[1:] == ["shards"] else text())
