# A gzip file is decoded by ISA-L where it is there, and by zlib if it is damaged; data from a pipe by zlib alone.
# Both print the same bytes and sentences, whatever was done to the data.
# Label: bytes
. "$(dirname "$0")/lib/common.bash"

cat > damage.py << 'END'
import random, struct, subprocess, sys, zlib

tool = sys.argv[1]
random.seed(1)
STEP = 128 << 10  # coded bytes that the tool reads at a time
EXTRA, NAME, COMMENT, HEADER_CRC = 4, 8, 16, 2


def lines(n):
    return "".join("http://%x.example/%d\n" % (random.getrandbits(24), i) for i in range(n)).encode()


def deflated(text, level, strategy):
    coder = zlib.compressobj(level, zlib.DEFLATED, -15, 9, strategy)
    return coder.compress(text) + coder.flush()


name = deflated(b"x" * 2000000, 9, zlib.Z_FIXED)[:12000]  # much text if it is taken for data
assert 0 not in name


def member(text, level=6, strategy=zlib.Z_DEFAULT_STRATEGY, flags=0):
    header = struct.pack("<3sB6s", b"\x1f\x8b\x08", flags, b"")
    header += struct.pack("<H30s", 30, b"") if flags & EXTRA else b""
    header += name + b"\0" if flags & NAME else b""
    header += b"a comment\n\0" if flags & COMMENT else b""
    header += struct.pack("<H", zlib.crc32(header) & 0xffff) if flags & HEADER_CRC else b""
    return header + deflated(text, level, strategy) + struct.pack("<II", zlib.crc32(text), len(text))


def changed(data, at, mask):
    return data[:at] + bytes([data[at] ^ mask]) + data[at + 1:]


small = member(lines(300))
large = member(lines(15000), 1)
text = lines(9000)[:STEP]
more = len(member(text, 0)) - STEP


def cases():
    yield small + large + member(text, 0) + member(lines(60), 9, zlib.Z_FIXED) + member(b"") \
        + member(lines(900), 6, zlib.Z_HUFFMAN_ONLY) + bytes(3)
    yield b"".join(member(lines(n), flags=EXTRA) for n in range(9000, -1, -1800))  # as bgzip does
    # The second header is cut between two steps.
    for flags in (0, 1, EXTRA, NAME, EXTRA | NAME, EXTRA | COMMENT, NAME | COMMENT, HEADER_CRC, 0x1f, 0x20):
        for at in (2, 20, 45):
            yield member(text[:STEP - more - at], 0) + member(lines(300), flags=flags) + small
    for data in (small, large, small + large):
        for at in (*range(4, 30, 5), len(data) // 2, *range(len(data) - 9, len(data), 3)):
            yield data[:at]
            yield changed(data, at, 1 << at % 8)
        for _ in range(6):
            yield changed(data, random.randrange(10, 90), 1 << random.randrange(8))
            at = random.randrange(10, len(data))
            yield data[:at] + random.randbytes(20) + data[at + 20:]
    yield changed(member(lines(300), flags=HEADER_CRC), 10, 1)
    for tail in (b"garbage\n", b"\0garbage\n", b"\x1f", b"\x1f\x8b\x09aaaaaaaa", b"\x1f\x8b\x08\x80aaaaaaaa"):
        yield small + tail


def said(**source):
    done = subprocess.run([tool, "-p", "none"], capture_output=True, **source)
    return done.returncode, done.stdout, done.stderr


for i, data in enumerate(cases()):
    with open("data.gz", "wb") as file:
        file.write(data)
    with open("data.gz", "rb") as file:
        quick = said(stdin=file)
    exact = said(input=data)
    if quick != exact:
        sys.exit("%d: %r, not %r" % (i, (quick[0], len(quick[1]), quick[2]), (exact[0], len(exact[1]), exact[2])))
    print(*exact[2].decode().split("\n")[:1])
END
python3 damage.py "$UNSEEN" > out 2> err
status=$?
last='the same data from a file and from a pipe'
expect 0 '*' ''
# Each of these was met.
for sentence in 'the compressed data ends too early' 'garbage after the gzip data' 'incorrect data check' \
    'incorrect length check' 'header crc mismatch' 'unknown compression method' 'unknown header flags set' \
    'invalid code lengths set'; do
    holds grep -q "$sentence" out
done
holds [ "$(grep -cx '' out)" -gt 29 ] # without an error

# Standard input that begins within a file.
printf 'x\n' > text
printf 'y\n' | gzip -nc | head -c 11 > cut.gz
cat text cut.gz > both
{ dd bs=1 count=2 status=none > begin; "$UNSEEN" -p none > out 2> err; } < both
status=$?
expect 2 '' 'unseen: error: standard input: the compressed data ends too early\n'

# A path that is a pipe.
mkfifo pipe.gz
printf 'y\n' | gzip -nc > pipe.gz &
run pipe.gz
expect 0 'y\n' ''
wait
finish
