"""The examples of docs/server.md that show what commands answer."""

import os
import re
import shlex

import redis

from server import Case

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "server.md")


def blocks(text):
    """The blocks behind a line that ends with "RESP2:", each a list of (command, answer)."""
    for block in re.findall(r"RESP2:\n\n((?:    .*\n)+)", text):
        rows = []
        for line in block.splitlines():
            command, arrow, answer = line.partition("-> ")
            if arrow:
                rows.append([command.strip(), answer])
            else:
                rows[-1][1] += " " + line.strip()
        yield rows


def words(reply):
    if isinstance(reply, list):
        return [word for each in reply for word in words(each)]
    return [reply.decode() if isinstance(reply, bytes) else str(reply)]


def without_sizes(answer):
    """The allocator of the server has a part in sizes, and servers write 5e-9 with other digits."""
    answer = [str(float(word)) if re.fullmatch(r"[0-9.]+e-[0-9]+", word) else word for word in answer]
    answer = [re.sub(r"\b(bytes|bits):[0-9]+", r"\1:N", word) for word in answer]
    return ["N" if i > 0 and answer[i - 1] in ("Size", "bytes") else word for i, word in enumerate(answer)]


class Pages(Case):
    def setUp(self):
        super().setUp()
        with open(PAGE) as f:
            self.page = f.read()

    def test_acl(self):
        """Redis 7.0 has no categories of modules. A user that the page makes may do what it says."""
        has_categories = b"bloom" in self.raw("ACL", "CAT")
        lines = re.findall(r"^    (ACL SETUSER .*?) +# (.*)$", self.page, re.MULTILINE)
        self.assertEqual(len(lines), 2)
        for line, servers in lines:
            command = shlex.split(line)
            if not has_categories and "7.0" not in servers:
                with self.assertRaises(redis.exceptions.ResponseError):
                    self.raw(*command)
                continue
            self.assertEqual(self.raw(*command), b"OK")
            user = redis.Redis(port=self.server.port, username=command[2], password="PASSWORD")
            self.assertEqual(user.execute_command("UNSEEN.ADD", "crawl:" + servers, "x"), [1])
            with self.assertRaises(redis.exceptions.NoPermissionError):
                user.execute_command("BF.ADD", "crawl:b", "x")
            self.raw("ACL", "DELUSER", command[2])
        self.raw("ACL", "SETUSER", "reader", "on", ">p", "~*", "+@read")
        user = redis.Redis(port=self.server.port, username="reader", password="p")
        if has_categories:
            self.assertEqual(user.execute_command("BF.EXISTS", "b", "x"), 0)
        else:
            with self.assertRaises(redis.exceptions.NoPermissionError):
                user.execute_command("BF.EXISTS", "b", "x")
        self.raw("ACL", "DELUSER", "reader")

    def test_answers(self):
        every = list(blocks(self.page))
        self.assertEqual(len(every), 2)
        for rows in every:
            self.assertGreater(len(rows), 5)
            self.raw("FLUSHALL")
            for command, answer in rows:
                reply = words(self.raw(*shlex.split(command)))
                self.assertEqual(without_sizes(reply), without_sizes(shlex.split(answer)), command)
