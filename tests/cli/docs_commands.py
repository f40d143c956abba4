#!/usr/bin/env python3
"""Runs the commands of a page and compares what they print with what the page says.

    docs_commands.py PAGE

A command is an indented line that begins with "$ ". The lines below it, down to the next command or to a line that is
less indented, are its output (standard output and standard error). All commands of a page run in the current folder,
one after the other. Prints the differences; exits with status 1 if there are any, or if the page has no command."""

import re
import shutil
import subprocess
import sys


def commands_of(text):
    """Yields (line number, command, output)."""
    found = None
    for number, line in enumerate(text.splitlines(), 1):
        start = re.match(r"^( {4,})\$ (.*)$", line)
        if start:
            if found:
                yield found
            indent = start[1]
            found = (number, start[2], "")
        elif found and line.startswith(indent):
            found = (found[0], found[1], found[2] + line[len(indent):] + "\n")
        elif found:
            yield found
            found = None
    if found:
        yield found


def main():
    page = sys.argv[1]
    with open(page, encoding="utf-8") as file:
        commands = list(commands_of(file.read()))
    ndiffer = 0
    for number, command, want in commands:
        if command.startswith("java ") and not shutil.which("java"):
            print(f"{page}:{number}: not run, there is no java")
            continue
        run = subprocess.run(["bash", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             check=False)
        if run.stdout != want:
            ndiffer += 1
            print(f"{page}:{number}: $ {command}\n  the page says:\n{want}  it prints:\n{run.stdout}")
    print(f"{page}: {len(commands)} commands, {ndiffer} differ")
    sys.exit(1 if ndiffer or not commands else 0)


if __name__ == "__main__":
    main()
