"""Damaged and forged payloads: RESTORE with the server's checksum made right again, LOADCHUNK, and the commands
that replicas get, with theirs. The server must live, and what it accepts must be whole.

tools/module.sh runs this with the module under AddressSanitizer, too. PAYLOADS is how many (500)."""

import os
import random
import struct

import redis
import xxhash

from server import Case

NPAYLOADS = int(os.environ.get("PAYLOADS", "500"))
INTERESTING = [0, 1, 2, 0x7F, 0xFF, 0xFFFF, 2**31 - 1, 2**31, 2**32 - 1, 2**61, 2**62, 2**63 - 1, 2**64 - 1]


def make_table(polynomial, bits):
    table = []
    for i in range(256):
        rest = i
        for _ in range(8):
            rest = rest >> 1 ^ (polynomial if rest & 1 else 0)
        table.append(rest)
    return table


CRC64 = make_table(0x95AC9329AC4BC9B5, 64)  # Jones, reflected


def crc64(data):
    crc = 0
    for byte in data:
        crc = CRC64[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc


def checksum(data):
    """The module's own."""
    return struct.pack("<I", xxhash.xxh3_64_intdigest(bytes(data)) & 0xFFFFFFFF)


def sealed(body, version):
    """A payload of DUMP with the version of its format and its checksum."""
    body += version
    return body + struct.pack("<Q", crc64(body))


def damaged(rng, body, others):
    """The body with a fault; never the body itself."""
    body = bytearray(body)
    kind = rng.randrange(7)
    at = rng.randrange(len(body))
    if kind == 0:
        body[at] ^= 1 << rng.randrange(8)
    elif kind == 1:
        del body[at:at + rng.choice([1, 2, 8, 64, 1000, len(body)])]
    elif kind == 2:
        other = rng.choice(others)
        start = rng.randrange(len(other))
        body[at:] = other[start:]
    elif kind == 3:
        number = rng.choice(INTERESTING)
        width = rng.choice([1, 2, 4, 8])
        body[at:at + width] = (number & (256**width - 1)).to_bytes(width, rng.choice(["little", "big"]))
    elif kind == 4:
        body[at:at] = bytes(rng.randrange(256) for _ in range(rng.choice([1, 4, 100])))
    elif kind == 5:
        length = rng.choice([1, 8, 64])
        body[at:at + length] = b"\0" * length
    else:
        for _ in range(8):
            body[rng.randrange(len(body))] = rng.randrange(256)
    return bytes(body)


class Payloads(Case):
    def values(self):
        call = self.raw
        call("BF.RESERVE", "sized", "0.01", "300")
        call("BF.MADD", "sized", *[f"i{n}" for n in range(200)])
        call("BF.RESERVE", "fixed", "0.01", "100", "NONSCALING")
        call("BF.ADD", "fixed", "x")
        call("BF.RESERVE", "two", "0.01", "10")
        call("BF.MADD", "two", *[f"i{n}" for n in range(60)])
        call("CF.INSERT", "cuckoo", "ITEMS", *[f"i{n % 40}" for n in range(80)], *["often"] * 20)
        call("CF.DEL", "cuckoo", "i1")
        call("BF.RESERVE", "block", "0.01", "21000")
        call("BF.MADD", "block", *[f"i{n}" for n in range(60)])
        call("BF.RESERVE", "tight", "0.000002", "100")
        call("BF.MADD", "tight", *[f"i{n}" for n in range(60)])
        call("CF.INSERT", "few", "ITEMS", *[f"i{n}" for n in range(30)])
        return ["sized", "fixed", "two", "block", "tight", "cuckoo", "few"]

    def grown(self):
        """A chain behind a small set, with two links."""
        self.raw("BF.RESERVE", "grown", "0.01", "12")
        for start in range(0, 26000, 1000):
            self.raw("BF.MADD", "grown", *range(start, start + 1000))
        return ["grown"]

    def use(self, key):
        """Whatever was accepted is a value like any other: each command works, and a copy of it is equal."""
        for command in (("BF.MADD", key, "a", "b", "i1"), ("BF.EXISTS", key, "i1"), ("BF.INFO", key), ("BF.DEBUG", key),
                        ("CF.ADD", key, "a"), ("CF.COUNT", key, "a"), ("CF.DEL", key, "a"), ("CF.INFO", key),
                        ("CF.DEBUG", key), ("MEMORY", "USAGE", key)):
            try:
                self.raw(*command)
            except redis.exceptions.ResponseError:
                pass
        if self.raw("EXISTS", key):
            dump = self.raw("DUMP", key)
            try:
                self.raw("RESTORE", key + "2", 0, dump)
            except redis.exceptions.ResponseError as error:
                raise AssertionError(f"{len(dump)} bytes, {dump[:200]!r}") from error
            a, b = self.raw("DEBUG", "DIGEST-VALUE", key, key + "2")
            self.assertEqual(a, b)
            self.raw("DEL", key, key + "2")

    def test_right_checksum_is_known(self):
        for key in self.values():
            dump = self.raw("DUMP", key)
            self.assertEqual(sealed(dump[:-10], dump[-10:-8]), dump)

    def test_restore(self):
        rng = random.Random(1)
        bodies = [self.raw("DUMP", key)[:-10] for key in self.values() + self.grown()]
        version = self.raw("DUMP", "two")[-10:-8]
        naccepted = 0
        for _ in range(NPAYLOADS):
            body = damaged(rng, rng.choice(bodies), bodies)
            try:
                self.raw("RESTORE", "k", 0, sealed(body, version))
                naccepted += 1
            except redis.exceptions.ResponseError as error:
                self.assertIn("Bad data format", str(error))
                self.assertEqual(self.raw("EXISTS", "k"), 0)
            else:
                self.use("k")
        # A change may fall into the middle of the zeros that are there.
        self.assertLess(naccepted, NPAYLOADS / 20)

    def frames(self, key, family):
        position, data = self.raw(family + ".SCANDUMP", key, 0)
        while position:
            yield position, data
            position, data = self.raw(family + ".SCANDUMP", key, position)

    def test_another_version(self):
        """Data of another version are refused, and the error says why."""
        said = "the data was written by another version of this module"
        for key in self.values() + self.grown():
            family = "CF" if key in ("cuckoo", "few") else "BF"
            frames = list(self.frames(key, family))
            settings = bytearray(frames[0][1])
            self.assertEqual(settings[1], 1)
            for version in 0, 2, 255:
                settings[1] = version
                settings[-4:] = checksum(settings[1:-4])
                old = bytes(settings)
                self.refused(said, family + ".LOADCHUNK", "k", frames[0][0], old)
                self.refused("received bad data", family + ".LOADCHUNK", "k", *frames[1])
                self.refused(said, "UNSEEN.LOAD", "k", "FIRST", old)
                self.refused(said, "UNSEEN.CREATE", "k", old[1:])
                if family == "BF":
                    data = b"".join(len(d).to_bytes(4, "little") + d for d in [old] + [d for _, d in frames[1:]])
                    self.refused(said, "BF.LOAD", "k", data)
                self.assertEqual(self.raw("EXISTS", "k"), 0)

    def test_another_encoding(self):
        """A value in an RDB file: the lowest 10 bits of its type are the encoding."""
        self.values()
        dump = self.raw("DUMP", "two")
        body, version = dump[:-10], dump[-10:-8]
        self.assertEqual(body[1], 0x81)  # a number of 64 bits
        self.assertEqual(int.from_bytes(body[2:10], "big") & 1023, 2)
        for encoding in 1, 3:
            other = body[:9] + bytes([encoding]) + body[10:]
            self.refused("Bad data format", "RESTORE", "k", 0, sealed(other, version))
            self.assertIn("a set is refused: the data was written by another version", self.server.text())

    def test_loadchunk(self):
        rng = random.Random(2)
        dumps = [(family, list(self.frames(key, family))) for key, family in
                 zip(self.values() + self.grown(), ["BF"] * 5 + ["CF"] * 2 + ["BF"])]
        every = [data for _, frames in dumps for _, data in frames]
        for _ in range(NPAYLOADS // 4):
            family, frames = rng.choice(dumps)
            frames = list(frames)
            at = rng.randrange(len(frames))
            if rng.randrange(4) == 0:
                frames[at] = (frames[at][0], rng.choice(every))
            elif rng.randrange(4) == 0:
                del frames[at]
            elif rng.randrange(4) == 0:
                frames.insert(at, rng.choice(frames))
            else:
                data = damaged(rng, frames[at][1], every)
                if data[:1] in b"SMZ" and len(data) > 8:  # the module's own checksum, made right
                    start = 1 if data[:1] == b"S" else 0
                    data = data[:-4] + checksum(data[start:-4])
                frames[at] = (frames[at][0], data)
            for position, data in frames:
                try:
                    self.raw(family + ".LOADCHUNK", "k", position, data)
                except redis.exceptions.ResponseError:
                    break
            if self.raw("EXISTS", "k"):
                self.use("k")
                self.raw("DEL", "k", "k2")
            whole = b"".join(len(d).to_bytes(4, "little") + d for _, d in frames)
            try:
                self.raw("BF.LOAD", "k", whole)
            except redis.exceptions.ResponseError:
                pass
            self.raw("DEL", "k")

    def with_leases(self, keys):
        """A payload for RESTORE of a set with a lease for each key, two numbers of 64 bits."""
        self.raw("UNSEEN.ADD", "urls", "http://e.example/")
        dump = self.raw("DUMP", "urls")
        body, version = dump[:-10], dump[-10:-8]
        end = body.rindex(b"\x05", 0, body.rindex(b"Z"))  # behind the set: a string with the end of the value
        frames = b""
        for i in range(0, len(keys), 2047):
            frame = b"L" + b"".join(struct.pack("<QQQ", *key, 2**62) for key in keys[i:i + 2047])
            frame += checksum(frame)
            frames += b"\x05\x80" + struct.pack(">I", len(frame)) + frame
        return sealed(body[:end] + frames + body[end:], version)

    def test_many_leases(self):
        """Leases come back in their order, however their keys were chosen."""
        self.raw("CONFIG", "SET", "rdbcompression", "no")
        self.addCleanup(self.raw, "CONFIG", "SET", "rdbcompression", "yes")
        rng = random.Random(4)
        n = 30 * 2047  # whole frames
        for chosen in False, True:
            keys = [((i + 1) << 40 if chosen else rng.getrandbits(64), i) for i in range(n)]
            payload = self.with_leases(keys)
            self.assertEqual(self.raw("RESTORE", "k", 0, payload), b"OK")
            self.assertGreater(self.raw("MEMORY", "USAGE", "k"), 24 * n)
            self.assertEqual(self.raw("DUMP", "k"), payload)
            self.raw("DEL", "k")

    def test_effects(self):
        rng = random.Random(3)
        self.values()
        settings = self.raw("BF.SCANDUMP", "sized", 0)[1][1:]
        for _ in range(NPAYLOADS):
            data = damaged(rng, settings, [settings])
            if len(data) > 4 and rng.randrange(4):
                data = data[:-4] + checksum(data[:-4])
            keys = bytes(rng.randrange(256) for _ in range(rng.choice([0, 1, 7, 8, 12, 16, 80])))
            keys += checksum(keys) if rng.randrange(4) else b""
            target = rng.choice(["sized", "fixed", "two", "block", "cuckoo", "few", "none"])
            for command in (("UNSEEN.CREATE", "k", data), ("UNSEEN.LOAD", "k", "FIRST", data),
                            ("UNSEEN.APPLY", target, rng.choice(["+", "-", "x", ""]), keys)):
                try:
                    self.raw(*command)
                except redis.exceptions.ResponseError:
                    pass
            if self.raw("EXISTS", "k"):
                self.use("k")

    def test_wrong_arguments(self):
        """Every command with every number of odd arguments."""
        rng = random.Random(4)
        self.raw("SET", "text", "x")
        keys = [*self.values(), "text", "none", "", b"\0\xff"]
        words = ["", "0", "-1", "x", "0.01", "1e400", "nan", "inf", str(2**62), str(2**63), "ITEMS", "NOCREATE", "CAPACITY",
                 "ERROR", "EXPANSION", "NONSCALING", "BUCKETSIZE", "MAXITERATIONS", "FIRST", "NEXT", "+", "LEASE", "WAIT", "PX", "ABSENT", "SHARDS", "PROFILE", b"\0", "z" * 5000]
        names = [name.decode() for name in self.raw("COMMAND", "LIST", "FILTERBY", "MODULE", "bf")]
        self.assertGreater(len(names), 20)
        for name in names:
            for _ in range(NPAYLOADS // 5):
                command = [rng.choice(keys)] * (rng.randrange(8) > 0)
                command += [rng.choice(words) for _ in range(rng.randrange(8))]
                try:
                    self.raw(name, *command)
                except redis.exceptions.ResponseError:
                    pass
            self.raw("FLUSHALL")
            self.values()
