#!/usr/bin/env python3
"""Spellings of paths for a list of sites, and how browsers and servers read them.

    path_spellings.py URLS EXPECTED COUNT

writes COUNT made-up URLs, a line each, and beside each what a list of bad() says of it: "listed",
"allowed" or "new". The reader below is written with lists of names and knows nothing of the one in
src/url/readings.c."""
import random
import re
import sys

BAD = [["bad"], ["a", "bad"], ["dir", "sub", "bad"]]  # folders
PAGE = ["page"]
GOOD = ["bad", "good"]  # a folder that is allowed

# ---- Readers -------------------------------------------------------------------------------------


def decode(text):
    return re.sub(rb"%([0-9A-Fa-f]{2})", lambda m: bytes([int(m[1], 16)]), text)


def decode_all(text):
    while decode(text) != text:
        text = decode(text)
    return text


def without_dots(names):
    """RFC 3986, 5.2.4; a last name of dots leaves an empty name."""
    out = []
    for i, name in enumerate(names):
        if name == b"..":
            out = out[:-1]
        elif name != b".":
            out.append(name)
        if name in (b".", b"..") and i == len(names) - 1:
            out.append(b"")
    return out


def browser(path):
    """The WHATWG URL standard."""
    names = path.replace(b"\\", b"/").split(b"/")[1:]
    names = [{b"%2e": b".", b"%2e%2e": b"..", b".%2e": b"..", b"%2e.": b".."}.get(n.lower(), n) for n in names]
    return b"/" + b"/".join(without_dots(names))


def plain_server(path):
    return b"/" + b"/".join(without_dots(decode(path).split(b"/")[1:]))


def nginx(path):
    """Merges slashes, as Apache, Go, Node and Python do, too."""
    return b"/" + b"/".join(without_dots(re.sub(rb"/+", b"/", decode(path)).split(b"/")[1:]))


def tomcat_or_iis(path):
    path = decode(re.sub(rb";[^/]*", b"", path)).replace(b"\\", b"/")
    return b"/" + b"/".join(without_dots(re.sub(rb"/+", b"/", path).split(b"/")[1:]))


def entry(path):
    """As an entry of that spelling would be read."""
    return b"/" + b"/".join(without_dots(decode_all(browser(path)).split(b"?")[0].split(b"/")[1:]))


def readings(path):
    """Every path that is opened."""
    path = b"/" + path[1:]
    yield entry(path)
    yield browser(path)
    yield browser(re.sub(rb"/+", b"/", re.sub(rb";[^/]*", b"", browser(path))))
    for server in plain_server, nginx, tomcat_or_iis:
        for sent in path, browser(path):
            yield server(sent)
            yield server(server(sent))  # a proxy of that kind decoded it before


def names_of(path):
    """The names of a reading, as people mean them."""
    return [decode_all(name) for name in path.split(b"/") if name]


def is_below(path, folder):
    folder = [name.encode() for name in folder]
    names = names_of(path)
    return names[: len(folder)] == folder and (len(names) > len(folder) or path.endswith(b"/"))


def judge(path):
    found = list(readings(path))
    if all(is_below(reading, GOOD) for reading in found):
        return "allowed"
    for reading in found:
        if any(is_below(reading, folder) for folder in BAD):
            return "listed"
        if names_of(reading) == [b"page"] and not reading.endswith(b"/"):
            return "listed"
    return "new"


# ---- Spellings -----------------------------------------------------------------------------------


def escape(byte, times):
    text = b"%%%02x" % byte if random.random() < 0.5 else b"%%%02X" % byte
    for _ in range(times - 1):
        text = text.replace(b"%", b"%25")
    return text


def spell(name):
    """A name with some bytes escaped, once or more often."""
    if random.random() < 0.6:
        return name
    out = b""
    for byte in name:
        out += escape(byte, random.choice([1, 1, 2, 2, 3])) if random.random() < 0.4 else bytes([byte])
    return out


def slash():
    if random.random() < 0.55:
        return b"/"
    return random.choice([b"//", b"%2f", b"%2F", b"%252f", b"%25252F", b"\\", b"%5c", b"%255C", b"/%2f", b"%2f/", b"%252f/"])


def make_path():
    names = [b"bad", b"bad", b"a", b"dir", b"sub", b"page", b"good", b"good", b"x", b"..", b"..", b"..", b".", b"", b"bad;v=1",
             b"..;", b"..;x=/y", b";", b"..%3b", b"page;jsessionid=1", b"b\xc3\xa4d", b"100%", b"%zz", b"x?", b"a b"]
    path = b"/"
    if random.random() < 0.2:
        path += spell(b"bad") + b"/" + spell(b"good") + slash()
    for i in range(random.choice([1, 2, 3, 4, 5, 6])):
        name = random.choice(names)
        path += slash() if i else b""
        path += name.replace(b"?", b"%3f") if b"%" in name or b"?" in name else spell(name)
    if random.random() < 0.3:
        path += slash()
    return path.replace(b" ", b"%20")


def make_url(path):
    host = random.choice([b"shop.example", b"shop.example", b"SHOP.Example.", b"www.shop.example", b"jo@shop.example:8080", b"shop%2eexample"])
    tail = random.choice([b"", b"", b"?q=/../bad/", b"#/../bad/"])
    if random.random() < 0.05:
        at = random.randrange(len(path))
        path = path[:at] + b"\t" + path[at:]
    return random.choice([b"http://", b"https://", b"", b"http:\\\\", b"//"]) + host + path + tail


def main():
    urls, expected, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    random.seed(32)
    seen = {"listed": 0, "allowed": 0, "new": 0}
    with open(urls, "wb") as u, open(expected, "w", encoding="ascii") as e:
        for _ in range(count):
            path = make_path()
            verdict = judge(path)
            seen[verdict] += 1
            u.write(make_url(path) + b"\n")
            e.write(verdict + "\n")
    print(seen)
    return 0 if min(seen.values()) > count / 100 else 1


if __name__ == "__main__":
    sys.exit(main())
