"""A server that looks at the questions of `unseen -s unix:...`.

The tool asks for many lines at once. A run that is killed loses no more than the lines of one question: whatever was
answered before is printed before the next question is sent. A line that comes alone is asked for alone, and at once.
"""

import os
import socket
import subprocess
import sys
import threading

TOOL = os.environ["UNSEEN"]
MOST = 8192  # lines of a question, as docs/serve.md says
failures = []


def check(holds, what):
    if not holds:
        failures.append(what)
        print(f"remote_batches: {what}", flush=True)


class Server:
    """Answers with answer(question number, lines): the marks, or None to hang up."""

    def __init__(self, name, answer):
        self.address = f"unix:{name}"
        self.questions = []
        self.answer = answer
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(name)
        self.socket.listen(1)
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        client, _ = self.socket.accept()
        with client, client.makefile("rb") as requests:
            client.sendall(b"unseen 1 profile=none/1 key=64 items=0 batch=65536\n")
            for head in requests:
                letter, count, kind = head.split()
                lines = [requests.readline() for _ in range(int(count))]
                check(letter == b"B" and kind == b"A", f"the request is {head}")
                self.questions.append(lines)
                marks = self.answer(len(self.questions) - 1, lines)
                if marks is None:
                    return
                client.sendall(marks + b"\n")


def start(server, **more):
    return subprocess.Popen([TOOL, "-s", server.address], stderr=subprocess.PIPE, **more)


def all_new(_, lines):
    return b"1" * len(lines)


LINES = [b"http://e.example/%d\n" % i for i in range(60_000)]
with open("lines", "wb") as file:
    file.writelines(LINES)


def many_lines():
    """Whole questions, in order; the answers of one are in the output before the next comes."""
    printed = []

    def answer(number, lines):
        check(os.path.getsize("out") == sum(map(len, printed)), f"question {number} came before the answers were printed")
        marks = bytes(b"01"[line[-3] % 2] for line in lines)
        printed.extend(line for line, mark in zip(lines, marks) if mark == ord("1"))
        return marks

    server = Server("many", answer)
    with open("lines", "rb") as source, open("out", "wb") as out:
        client = start(server, stdin=source, stdout=out)
        check(client.wait() == 0, "many lines: the exit status")
    with open("out", "rb") as out:
        check(out.read() == b"".join(printed), "many lines: the output")
    sizes = [len(question) for question in server.questions]
    check([line for question in server.questions for line in question] == LINES, "many lines: the lines asked for")
    check(max(sizes) <= MOST, f"a question has {max(sizes)} lines")
    check(len(sizes) <= 60_000 // 2048, f"{len(sizes)} questions for 60,000 lines")


def line_by_line():
    """A line is asked for, and printed, before the next is written."""
    server = Server("slow", all_new)
    client = start(server, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for line in LINES[:50]:
        client.stdin.write(line)
        client.stdin.flush()
        check(client.stdout.readline() == line, "line by line: the answer")
    client.stdin.close()
    check(client.wait() == 0 and len(server.questions) == 50, "line by line: the questions")


def server_hangs_up():
    """What was answered is printed, and nothing else."""
    server = Server("gone", lambda number, lines: all_new(number, lines) if number < 2 else None)
    with open("lines", "rb") as source:
        client = start(server, stdin=source, stdout=subprocess.PIPE)
        out, err = client.communicate()
    check(client.returncode == 2 and b"has gone away" in err, "a server that hangs up: the message")
    check(out == b"".join(server.questions[0] + server.questions[1]), "a server that hangs up: the output")


def refused_lines():
    """A line that the server could not take is left out; the other lines of the question are printed."""
    server = Server("refuses", lambda _, lines: b"".join(b"E" if line[-2:-1] == b"7" else b"1" for line in lines))
    with open("lines", "rb") as source:
        client = start(server, stdin=source, stdout=subprocess.PIPE)
        out, err = client.communicate()
    check(client.returncode == 2 and b"could not take a line" in err, "refused lines: the message")
    check(len(server.questions) == 1, "refused lines: the run goes on")
    check(out == b"".join(line for line in server.questions[0] if line[-2:-1] != b"7"), "refused lines: the output")


many_lines()
line_by_line()
server_hangs_up()
refused_lines()
sys.exit(1 if failures else 0)
