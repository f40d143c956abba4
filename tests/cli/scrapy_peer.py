#!/usr/bin/env python3
"""The profile scrapy/1 beside w3lib itself: scrapy_peer.py TOOL TESTS URLS...

URLS are files of URLs, one a line. The same URLs are asked mutated, too. Answers must be equal, or differ for
a reason that docs/url-identity.md ("scrapy and w3lib") lists. No difference may be a wrong merge: w3lib must
give one answer to the input and to the form that unseen gives it. Each difference without a reason is printed.

Fingerprints are compared with those of Scrapy, or, where only w3lib is installed, with the same made here."""

import collections
import hashlib
import json
import random
import re
import subprocess
import sys
import unicodedata

from w3lib.url import canonicalize_url, safe_url_string

try:
    from scrapy import Request
    from scrapy.utils.request import fingerprint as scrapy_fingerprint
except ImportError:
    Request = None

LIST_MAX = 15000  # URLs of a file that are asked as they are
NMUTATED = 30000
SEED = 1

# ---- Asking both -----------------------------------------------------------------------------------


def ask_unseen(tool, urls, *options):
    done = subprocess.run(
        [tool, "canon", "-z", *options],
        input=b"".join(url + b"\0" for url in urls),
        stdout=subprocess.PIPE,
        check=True,
    )
    answers = done.stdout.split(b"\0")[:-1]
    assert len(answers) == len(urls), f"{len(answers)} answers to {len(urls)} URLs"
    return answers


def ask_w3lib(url):
    """The canonical form, or the sentence of the error."""
    try:
        return canonicalize_url(url).encode(), None
    except ValueError as error:
        return None, str(error)


def ask_scrapy(url):
    """The fingerprint of a GET as hexadecimal digits; None if Scrapy makes no request of it."""
    try:
        text = url.decode()
        if Request:
            return scrapy_fingerprint(Request(text)).hex().encode()
        safe = safe_url_string(text)
        if "://" not in safe and not safe.startswith(("about:", "data:")):
            return None
        request = {"method": "GET", "url": canonicalize_url(safe), "body": "", "headers": {}}
    except ValueError:
        return None
    return hashlib.sha1(json.dumps(request, sort_keys=True).encode()).hexdigest().encode()


# ---- Reasons ---------------------------------------------------------------------------------------

DOTS = "[.\u3002\uff0e\uff61]"
INVISIBLE = "[\u00ad\u034f\u200b-\u200d\u2060\ufe00-\ufe0f\ufeff]"
MEANINGFUL = re.compile(r"[\x00-\x20#%/:<>?@\[\\\]^|\x7f]")

# Cherokee, presentation forms, fillers, letters newer than Unicode 3.2 that have two cases.
MAPPED_OTHERWISE = [
    (0x115F, 0x1160), (0x13A0, 0x13FD), (0x17B4, 0x17B5), (0x1806, 0x1806), (0x180E, 0x180F),
    (0x1C80, 0x1C8F), (0x1E9E, 0x1E9E), (0x2061, 0x206F), (0x3164, 0x3164), (0xA7C0, 0xA7FF),
    (0xAB70, 0xABBF), (0xFB1D, 0xFDFF), (0xFE70, 0xFEFE), (0xFFA0, 0xFFA0), (0x10D50, 0x10D65),
    (0x16EA0, 0x16EB8), (0x1BCA0, 0x1BCA3), (0x1CCD6, 0x1CCF9), (0x1D173, 0x1D17A), (0x1E030, 0x1E06D),
    (0xE0000, 0xE0FFF),
]  # fmt: skip


def host_of(url):
    """The host as w3lib finds it; None without one."""
    text = url.decode("utf8", "percentencode")
    text = re.sub("[\t\n\r]", "", text.strip("".join(map(chr, range(33)))))
    match = re.match(r"([a-zA-Z][a-zA-Z0-9+.-]*:)?([^#?]*)", text)
    rest = match[2]
    if (match[1] or "").lower() in ("http:", "https:", "ftp:", "ws:", "wss:", "file:"):
        rest = rest.replace("\\", "/")
    if not rest.startswith("//"):
        return None
    return rest[2:].split("/")[0].rpartition("@")[2].partition(":")[0].lower()


def is_wrong_bidi(label):
    """Does the label break the rule of RFC 5893, as far as Python's tables go?"""
    kinds = [unicodedata.bidirectional(c) for c in label]
    if not {"R", "AL", "AN"} & set(kinds):
        return False
    while kinds and kinds[-1] == "NSM":
        kinds.pop()
    inner = {"EN", "ES", "CS", "ET", "ON", "BN", "NSM"}
    if kinds[0] == "L":
        return not set(kinds) <= inner | {"L"} or kinds[-1] not in ("L", "EN")
    return (
        kinds[0] not in ("R", "AL")
        or not set(kinds) <= inner | {"R", "AL", "AN"}
        or kinds[-1] not in ("R", "AL", "EN", "AN")
        or {"EN", "AN"} <= set(kinds)
    )


def is_wrong_punycode(text):
    try:
        decoded = text.encode().decode("punycode")
        valid = not {unicodedata.category(c)[0] for c in decoded} & {"C"}
        return not valid or decoded.encode("punycode").decode() != text
    except UnicodeError:
        return True


def label_reason(label):
    if unicodedata.category(label[0])[0] == "M":
        return "mark"
    if label.startswith("xn--") and is_wrong_punycode(label[4:]):
        return "xn--"
    if is_wrong_bidi(label):
        return "bidi"
    return None


def host_reason(host):
    """Why a name that is not ASCII is not read as IDNA 2003 reads it."""
    if not host or host.isascii():
        return None
    if any(first <= ord(c) <= last for c in host for first, last in MAPPED_OTHERWISE):
        return "mapped otherwise"
    mapped = unicodedata.normalize("NFKC", host)
    if MEANINGFUL.search(mapped) or len(re.findall(DOTS, mapped)) > len(re.findall(DOTS, host)):
        return "character"
    for label in re.split(DOTS, re.sub(INVISIBLE, "", mapped)):
        reason = label_reason(label) if label else None
        if reason:
            return reason
    labels = re.split(DOTS, mapped)
    if "" in labels[:-1] or any(len(label.encode("punycode")) > 58 for label in labels):
        return "upper case"
    return None


def undo_escapes(text):
    """Decodes the digits of which unseen leaves one escaped."""
    return re.sub(rb"%%3([0-9])|%%[46]([1-6])", lambda m: b"%" + bytes.fromhex(m[0][2:].decode()), text)


def reason_of(url, ours, theirs, error):
    """Which row of the table a difference belongs to; None: to none."""
    if error:
        return "error" if "NFKC" in error else None
    if ours == url and re.search(rb"[\x80-\xff][\t\r]+[\x80-\xbf]", url):
        return "halves"
    if ours == url and re.search(rb"\[[^]/]*[\x80-\xff]", url):
        return "address"
    front = re.match(rb"(?:[a-z][a-z0-9+.-]*:)?//[^/?]*|", ours)[0]
    path, question, query = ours[len(front) :].partition(b"?")
    if front + undo_escapes(path) + question + query == theirs:
        return "escape"
    if ours.replace(b"%3A", b":", 1) == theirs:
        return "colon"
    return host_reason(host_of(url))


# ---- Comparing -------------------------------------------------------------------------------------


class Comparison:
    def __init__(self, tool):
        self.tool = tool
        self.counts = collections.Counter()
        self.nerrors = 0

    def complain(self, what, *texts):
        self.nerrors += 1
        if self.nerrors <= 20:
            print(what, *texts, sep="\n    ", file=sys.stderr)

    def compare_texts(self, urls):
        for url, ours in zip(urls, ask_unseen(self.tool, urls, "-p", "scrapy/1")):
            theirs, error = ask_w3lib(url)
            if theirs == ours or (error and ours == url):
                self.counts["texts equal"] += 1
                continue
            reason = reason_of(url, ours, theirs, error)
            self.counts[f"text: {reason}"] += 1
            if not reason:
                self.complain("a difference that docs/url-identity.md does not list:", url, ours, theirs or error)
            if theirs is not None and ours != url and ask_w3lib(ours)[0] != theirs:
                self.complain("a wrong merge:", url, ours, theirs)

    def compare_fingerprints(self, urls):
        texts = ask_unseen(self.tool, urls, "-p", "scrapy/1")
        for url, text, ours in zip(urls, texts, ask_unseen(self.tool, urls, "--fingerprint")):
            theirs = ask_scrapy(url)
            if theirs is None:
                self.counts["fingerprints: Scrapy makes no request"] += 1
            elif theirs == ours:
                self.counts["fingerprints equal"] += 1
            else:
                form, error = ask_w3lib(url)
                reason = reason_of(url, text, form, error) if form != text else None
                self.counts[f"fingerprint: {reason}"] += 1
                if not reason:
                    self.complain("a fingerprint that is not Scrapy's:", url, text, form or error)

    def compare_vectors(self, path):
        """Each row is a documented difference: input, the form of unseen (!: not a URL), the form of w3lib (!:
        error). Its reason is the last [word] above."""
        reason = None
        for line in open(path, "rb").read().splitlines():
            if line.startswith(b"#"):
                named = re.match(rb"# \[(.*)\]", line)
                reason = named[1].decode() if named else reason
                continue
            url, want, want_theirs = (unescape(text) for text in line.split(b"\t"))
            ours = ask_unseen(self.tool, [url], "-p", "scrapy/1")[0]
            theirs, error = ask_w3lib(url)
            if ours != (url if want == b"!" else want):
                self.complain("unseen has another form:", url, ours)
            if (theirs if theirs is not None else b"!") != want_theirs:
                self.complain("w3lib has another form:", url, theirs or error)
            if reason_of(url, ours, theirs, error) != reason:
                self.complain(f"not for the reason {reason}, but {reason_of(url, ours, theirs, error)}:", url)
            self.counts["rows of documented differences"] += 1


def unescape(text):
    special = {b"t": b"\t", b"n": b"\n", b"r": b"\r", b"\\": b"\\"}
    return re.sub(rb"\\(x..|.)", lambda m: special.get(m[1]) or bytes([int(m[1][1:], 16)]), text)


# ---- URLs ------------------------------------------------------------------------------------------

TOKENS = rb"""%2F %3F %25 %3B %3b %41 %7e %2e %2E%2e . .. / // /./ /../ \ ? # & = + %20 @ : :80 :0080 ; ;a=1 [ ] [::1]
[::ffff:1.2.3.4] [1:0:0:2::] % %4 %zz %%34%31 - -- _ A Z 0 0x7f 1.2.3.4 http: https: www. | ^ ` { ' " < ~ ! $ ( * ,
ftp: mailto: data:, xn-- xn--bcher-kva \xc3\xa9 \xc3\x9f \xcf\x82 \xd7\x90 \xd8\xa7 \xe3\x80\x82 \xef\xbc\x8e
\xef\xbd\xa1 \xc2\xa0 \xe2\x80\x8d \xc2\xad \xff \xc3 \xf0\x9f\x92\xa9 \x7f \x01 \t \x20 e\xcc\x81 \xe2\x84\x80
\xef\xbc\x85 \xe1\x8e\xa0 \xd9\xa1 \xe0\xa4\x95 \xef\xac\xa9""".split()
TOKENS = [unescape(token) if b"\\x" in token or token == rb"\t" else token for token in TOKENS]


def mutate(chance, url, others):
    url = bytearray(url)
    for _ in range(chance.choice((1, 1, 1, 2, 2, 3, 5))):
        what = chance.randrange(6)
        at = chance.randrange(len(url) + 1)
        if what <= 2:
            url[at:at] = chance.choice(TOKENS)
        elif what == 3:
            del url[at : at + chance.choice((1, 1, 2, 5))]
        elif what == 4:
            url[at : at + 1] = bytes([chance.choice(b"abzAZ09./:?#&=%;@[]-_~+ \\")])
        else:
            other = chance.choice(others)
            url[at:] = other[chance.randrange(len(other) + 1) :]
    return bytes(url).replace(b"\n", b"").replace(b"\0", b"")


def main():
    tool, tests, *files = sys.argv[1:]
    chance = random.Random(SEED)
    urls = []
    for file in files:
        lines = [line for line in dict.fromkeys(open(file, "rb").read().split(b"\n")) if line]
        urls += chance.sample(lines, min(len(lines), LIST_MAX))
    urls += [
        unescape(line.split(b"\t")[0])
        for line in open(f"{tests}/vectors/scrapy.tsv", "rb").read().splitlines()
        if line and not line.startswith(b"#")
    ]
    urls = [url for url in urls if url and b"\n" not in url and b"\0" not in url]
    mutated = [mutate(chance, chance.choice(urls), urls) for _ in range(NMUTATED)]
    comparison = Comparison(tool)
    comparison.compare_vectors(f"{tests}/vectors/scrapy_differences.tsv")
    for what, those in (("as they are", urls), ("mutated", mutated)):
        comparison.counts.clear()
        those = [url for url in dict.fromkeys(those) if url]
        comparison.compare_texts(those)
        comparison.compare_fingerprints(those)
        print(f"{len(those)} URLs, {what}:", *sorted(comparison.counts.items()), sep="\n    ")
    sys.exit(comparison.nerrors != 0)


main()
