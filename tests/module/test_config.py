"""CONFIG of the module: the settings of each dialect, their ranges, the configuration file and CONFIG REWRITE."""

import os
import unittest

import redis

from server import Case, Server, raw_client, wait_for_replica

NUMBERS = {
    "redisbloom": [("bf-initial-size", 100, 1, 2**30), ("bf-expansion-factor", 2, 0, 32768), ("cf-initial-size", 1024, 4, 2**30),
                   ("cf-bucket-size", 2, 1, 255), ("cf-max-iterations", 20, 1, 65535), ("cf-expansion-factor", 1, 0, 32768),
                   ("cf-max-expansions", 32, 1, 65536)],
    "valkey": [("bloom-capacity", 100, 1, 2**30), ("bloom-expansion", 2, 0, 32768)],
}
SHARES = {"redisbloom": [("bf-error-rate", b"0.01")],
          "valkey": [("bloom-fp-rate", b"0.01"), ("bloom-tightening-ratio", b"0.5")]}


def full_name(call, name):
    """Redis 8 has the names of RedisBloom without a prefix."""
    return name if call("CONFIG", "GET", name) else "bf." + name


class Settings:
    def get(self, name):
        return self.raw("CONFIG", "GET", full_name(self.raw, name))[1]

    def set(self, name, value):
        self.assertEqual(self.raw("CONFIG", "SET", full_name(self.raw, name), value), b"OK")

    def not_set(self, name, value, text):
        before = self.get(name)
        with self.assertRaises(redis.exceptions.ResponseError, msg=(name, value)) as caught:
            self.raw("CONFIG", "SET", full_name(self.raw, name), value)
        self.assertIn(text, str(caught.exception))
        self.assertEqual(self.get(name), before)

    def test_numbers(self):
        for name, default, low, high in NUMBERS[self.dialect]:
            self.assertEqual(self.get(name), str(default).encode(), name)
            for value in low, high:
                self.set(name, value)
                self.assertEqual(self.get(name), str(value).encode())
            for value in low - 1, high + 1:
                self.not_set(name, value, f"argument must be between {low} and {high} inclusive")
            self.not_set(name, "x", "argument couldn't be parsed into an integer")
            self.set(name, default)

    def test_shares(self):
        for name, default in SHARES[self.dialect]:
            self.assertEqual(self.get(name), default)
            for value in b"0.25", b"1e-3", b"0.999":
                self.set(name, value)
                self.assertEqual(self.get(name), value)
            for value in "0", "1", "-0.5", "nan", "inf", "x", "", "0.1x":
                self.not_set(name, value, "argument must be above 0 and below 1")
            self.set(name, default)

    def test_limit(self):
        name = "maxbytes" if self.dialect == "redisbloom" else "bloom-memory-usage-limit"
        self.assertEqual(self.get(name), b"0")
        self.raw("BF.ADD", "before", "x")
        self.set(name, "100kb")
        self.assertEqual(self.get(name), b"102400")
        self.raw("BF.ADD", "after", "x")
        for key, is_limited in ("before", False), ("after", True):
            refused = 0
            for i in range(0, 60000, 1000):
                answers = self.raw("BF.MADD", key, *range(i, i + 1000))
                refused += isinstance(answers[-1], Exception)
            self.assertEqual(refused > 0, is_limited, key)
        self.set(name, 0)

    def test_new_keys(self):
        """A setting is for keys that are created later; a replica gets what its primary created."""
        size, rate = [x[0][0] for x in (NUMBERS[self.dialect], SHARES[self.dialect])]
        replica = Server(module_arguments=("dialect", self.dialect))
        try:
            answer = raw_client(replica)
            answer("CONFIG", "SET", full_name(answer, size), 77)
            answer("REPLICAOF", "127.0.0.1", self.server.port)
            self.raw("BF.ADD", "before", "x")
            self.set(size, 5000)
            self.set(rate, "0.001")
            self.raw("BF.ADD", "after", "x")
            self.raw("BF.RESERVE", "like", "0.001", 5000)
            self.raw("BF.ADD", "like", "x")
            a, b, c = self.raw("DEBUG", "DIGEST-VALUE", "after", "like", "before")
            self.assertEqual(a, b)
            self.assertNotEqual(a, c)
            wait_for_replica(self.server, replica)
            self.assertEqual(answer("DEBUG", "DIGEST"), self.raw("DEBUG", "DIGEST"))
        finally:
            replica.end()
            self.set(size, 100)
            self.set(rate, "0.01")

    def test_file(self):
        """CONFIG REWRITE writes the settings, and a server that starts with the file has them; an argument is the default."""
        number, share = NUMBERS[self.dialect][0][0], SHARES[self.dialect][0][0]
        path = os.path.join(self.server.folder, "conf")
        with open(path, "w") as f:
            f.write("")
        server = Server(program=[self.server.program, path], module_arguments=("dialect", self.dialect, "bf-initial-size", "500"))
        try:
            call = raw_client(server)
            number, share = full_name(call, number), full_name(call, share)
            self.assertEqual(call("CONFIG", "GET", number)[1], b"500")
            call("CONFIG", "SET", number, 700)
            call("CONFIG", "SET", share, "0.002")
            call("CONFIG", "REWRITE")
            server.stop()
            with open(path) as f:
                lines = [line for line in f if line.split()[:1] in ([number], [share])]  # without a second loadmodule
            self.assertEqual(len(lines), 2)
            with open(path, "w") as f:
                f.writelines(lines)
            server.start()
            call = raw_client(server)
            self.assertEqual(call("CONFIG", "GET", number)[1], b"700")
            self.assertEqual(call("CONFIG", "GET", share)[1], b"0.002")
            server.stop()
            with open(path, "w") as f:
                f.write(share + " 2\n")
            with self.assertRaises(RuntimeError):
                server.start()
        finally:
            server.end()


class Arguments(unittest.TestCase):
    """Lines of loadmodule as they were written for RedisBloom, 2.x and 8."""

    def settings(self, *arguments):
        server = Server(module_arguments=arguments)
        try:
            call = raw_client(server)
            names = [name for name, *_ in NUMBERS["redisbloom"] + SHARES["redisbloom"]] + ["bf.maxbytes"]
            return {name: call("CONFIG", "GET", name if name == "bf.maxbytes" else full_name(call, name))[1].decode() for name in names}
        finally:
            server.end()

    def test_names(self):
        default = self.settings()
        self.assertEqual(self.settings("ERROR_RATE", "0.02", "INITIAL_SIZE", "200", "CF_MAX_EXPANSIONS", "16"),
                         dict(default, **{"bf-error-rate": "0.02", "bf-initial-size": "200", "cf-max-expansions": "16"}))
        new = {"bf-error-rate": "0.03", "bf-initial-size": "300", "bf-expansion-factor": "4", "cf-initial-size": "2048",
               "cf-bucket-size": "4", "cf-max-iterations": "30", "cf-expansion-factor": "2", "cf-max-expansions": "8"}
        self.assertEqual(self.settings(*[word for pair in new.items() for word in pair], "maxbytes", "10mb"),
                         dict(new, **{"bf.maxbytes": str(10 << 20)}))
        for text, nbytes in ("1G", 10**9), ("5kb", 5120), ("7", 7), ("8b", 8), ("0", 0):
            self.assertEqual(self.settings("maxbytes", text), dict(default, **{"bf.maxbytes": str(nbytes)}))

    def test_refused(self):
        for name, value, values in (("cf-bucket-size", "256", "1 to 255"), ("CF_MAX_EXPANSIONS", "x", "1 to 65536"),
                                    ("ERROR_RATE", "1", "above 0 and below 1"), ("maxbytes", "10xb", "bytes, as 1000000 or 10mb"),
                                    ("maxbytes", "9223372036854775808", "bytes"), ("maxbytes", "9000000000gb", "bytes"),
                                    ("maxbytes", "-1", "bytes"), ("maxbytes", "", "bytes")):
            with self.assertRaises(RuntimeError) as caught:
                Server(module_arguments=(name, value))
            self.assertIn(f"the argument {name} needs a value: {values}", str(caught.exception))
        with self.assertRaises(RuntimeError) as caught:
            Server(module_arguments=("DONT_KNOW", "1"))
        self.assertIn("there is no argument DONT_KNOW", str(caught.exception))


class RedisBloom(Settings, Case):
    dialect = "redisbloom"
    module_arguments = ("dialect", "redisbloom")

    def test_names(self):
        info = self.server.client().info("server")
        is_redis8 = "valkey_version" not in info and int(info["redis_version"].split(".")[0]) >= 8
        self.assertEqual(full_name(self.raw, "bf-error-rate"), "bf-error-rate" if is_redis8 else "bf.bf-error-rate")
        self.assertEqual(len(self.raw("CONFIG", "GET", "bf.maxbytes")), 2)

    def test_cuckoo(self):
        self.set("cf-bucket-size", 4)
        self.set("cf-max-iterations", 30)
        self.raw("CF.ADD", "k", "x")
        info = self.raw("CF.INFO", "k")
        self.assertEqual(info[info.index(b"Bucket size") + 1], 4)
        self.assertEqual(info[info.index(b"Max iterations") + 1], 30)
        self.set("cf-bucket-size", 2)
        self.set("cf-max-iterations", 20)


class Valkey(Settings, Case):
    dialect = "valkey"
    module_arguments = ("dialect", "valkey")

    def test_yes_and_no(self):
        self.assertEqual(self.get("bloom-defrag-enabled"), b"yes")
        self.set("bloom-defrag-enabled", "no")
        self.assertEqual(self.get("bloom-defrag-enabled"), b"no")
        self.set("bloom-defrag-enabled", "yes")
        self.set("bloom-use-random-seed", "yes")
        self.not_set("bloom-use-random-seed", "no", "the secret is always random, or that of seed-file")

    def test_tightening(self):
        self.set("bloom-tightening-ratio", "0.25")
        self.raw("BF.ADD", "k", "x")
        self.assertEqual(float(self.raw("BF.INFO", "k", "TIGHTENING")), 0.25)
        self.set("bloom-tightening-ratio", "0.5")


if __name__ == "__main__":
    unittest.main()
