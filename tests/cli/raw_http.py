#!/usr/bin/env python3
"""What a client may send to a proxy that asks unseen, byte by byte.

    raw_http.py PORT COUNT BAD HOST [absolute]

sends the attacks below, and COUNT made-up spellings of paths (path_spellings.py), for the site HOST of
which the folder BAD is listed. The server behind the proxy answers with the request target that it got,
or names the file that it opens. Fails if a page of the folder is opened, as any browser or server reads
the target, or if no harmless page is. With "absolute" the proxy is asked as a forward proxy."""
import random
import socket
import sys

import path_spellings as spellings

PORT, COUNT, BAD, HOST = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3].encode(), sys.argv[4].encode()
SITE = b"http://" + HOST if len(sys.argv) > 5 else b""


def talk(request):
    """The answer to the bytes; None if the proxy hangs up or says nothing."""
    with socket.create_connection(("127.0.0.1", PORT), timeout=30) as s:
        try:
            s.sendall(request)
            answer = b""
            while block := s.recv(65536):
                answer += block
        except OSError:
            return None
    return answer or None


def get(target, version=b"1.1", host=b"Host: %s\r\n" % HOST, more=b""):
    return b"GET " + target + b" HTTP/" + version + b"\r\n" + host + more + b"Connection: close\r\n\r\n"


def attacks():
    bad = b"/" + BAD + b"/x"
    for version in b"1.0", b"1.1":
        for host in (b"", b"Host:\r\n", b"Host: \r\n", b"Host: other.example\r\n", b"hOST: %s\r\n" % HOST, b"Host: %s\r\n" % HOST.upper(),
                     b"Host: %s.\r\n" % HOST, b"Host: %s:99\r\n" % HOST, b"Host: %s\r\nHost: other.example\r\n" % HOST,
                     b"Host: other.example\r\nHost: %s\r\n" % HOST, b"Host: other.example, %s\r\n" % HOST, b"Host: other.example/\r\n",
                     b"Host: jo@%s\r\n" % HOST, b"Host: %s#\r\n" % HOST, b"Host: %s%%23\r\n" % HOST, b"Host : other.example\r\n",
                     b" Host: other.example\r\n", b"Host: other.example\r\n %s\r\n" % HOST, b"Host: %s\x00.other.example\r\n" % HOST):
            yield get(SITE + bad, version, host)
        for target in (b"http://other.example" + bad, b"http://" + HOST + bad, b"http://" + HOST.upper() + b".:80" + bad, b"http://jo@" + HOST + bad,
                       b"HTTP://" + HOST + bad, b"http:" + bad, b"//other.example/.." + bad, b"https://" + HOST + bad, b"http://other.example@" + HOST + bad,
                       b"http://" + HOST + b"\\@other.example" + bad, bad[1:], b"*", b""):
            yield get(target, version)
            yield get(target, version, b"Host: other.example\r\n")
    yield b"GET " + SITE + bad + b"\r\n"  # HTTP/0.9
    port = HOST.partition(b":")[2]
    for name in b"127.1", b"127.0.1", b"0x7f.1", b"0177.0.0.01", b"2130706433", b"0x7f000001", b"[::ffff:127.0.0.1]", b"[::ffff:7f00:1]", b"127.0.0.1.", \
            b"127%2e0.0.1", b"%31%32%37.0.0.1", b"\xef\xbc\x91\xef\xbc\x92\xef\xbc\x97.0.0.1", b"jo:x@127.0.0.1", b"other.example%2f@127.0.0.1", \
            b"other.example\\@127.0.0.1", b"127.0.0.1\t", b"4294967297.0.0.1", b"00000000127.0.0.1":
        yield get(b"http://" + name + b":" + port + bad)
    yield get(SITE + b"/good#/.." + bad)
    yield get(SITE + bad + b"#/../../good")
    yield get(SITE + bad + b"?/../../good")
    yield get(SITE + b"/good?/../" + bad)
    yield get(SITE + bad, more=b"X-Url: http://other.example/good\r\n")
    yield get(SITE + bad, more=b"X-Original-URI: /good\r\nX-Rewrite-URL: /good\r\nX-Forwarded-Host: other.example\r\n")
    yield get(SITE + bad, more=b"Transfer-Encoding: chunked\r\n") + b"0\r\n\r\n"
    yield get(SITE + bad, more=b"Content-Length: 5\r\n") + b"hello"
    yield get(SITE + bad, more=b"Expect: 100-continue\r\nUpgrade: h2c\r\n")
    for length in 1000, 4000, 7000, 9000, 70000:
        yield get(SITE + bad + b"/" + b"a" * length)
        yield get(SITE + b"/" + b"a/../" * (length // 5) + bad[1:])
        yield get(SITE + b"/" + b"a%2f..%2f" * (length // 9) + bad[1:])
        yield get(SITE + bad + b"?" + b"a" * length)
    for byte in range(256):
        yield get(SITE + b"/" + bytes([byte]) + b"/.." + bad)
        yield get(SITE + b"/" + BAD + b"/" + bytes([byte]))
    for path in (b"//bad/x", b"///bad//x", b"/./bad/x", b"/x/../bad/x", b"/x/%2e%2e/bad/x", b"/x/..%2fbad/x", b"/x%2f..%2fbad/x", b"/%62ad/x", b"/%42ad/../bad/x",
                 b"/bad%2fx", b"/x/..;/bad/x", b"/;/bad/x", b"/bad;x/x", b"/x\\..\\bad\\x", b"/x/..%5cbad%5cx", b"/%2562ad/x", b"/x/%252e%252e/bad/x",
                 b"/good/..%2fbad/x", b"/x/y%2f../../bad/x", b"/x//../bad/x", b"/x/%2f../bad/x", b"/bad/..\\x", b"/bad/%2e%2e%2f..%2fx",
                 b"/../bad/x", b"/%2e%2e/bad/x", b"/bad/.", b"/bad/./x", b"/bad/%00/../x", b"/bad/%", b"/bad/%zz", b"/bad/ x", b"/bad/\xc3\xa9"):
        yield get(SITE + path.replace(b"bad", BAD))


def opens_bad(target):
    """Would any browser or server open a page of the folder for this target?"""
    path = target.split(b"?")[0]
    path = b"/" + path.split(b"/", 3)[3] if b"://" in path else path
    return any(spellings.is_below(reading, [BAD.decode()]) for cut in (path, path.split(b"#")[0]) for reading in spellings.readings(cut))


def main():
    random.seed(7)
    counts = {"opened": 0, "refused": 0}
    requests = list(attacks())
    for _ in range(COUNT):
        path = spellings.make_path().replace(b"bad", BAD)
        requests.append(get(SITE + path))
    wrong = 0
    for request in requests:
        answer = talk(request)
        if answer is None or not answer.startswith(b"HTTP/1.1 200") or b"target=" not in answer:
            counts["refused"] += 1
            continue
        counts["opened"] += 1
        target = answer.split(b"target=<", 1)[1].rsplit(b">", 1)[0]
        if opens_bad(target):
            wrong += 1
            print("opened:", request[:200], "as", target[:200])
    print(counts)
    return 1 if wrong or counts["opened"] < COUNT / 10 else 0


if __name__ == "__main__":
    sys.exit(main())
