/* SPDX-License-Identifier: MIT */
#include "lines/magic.h"

#include <stdint.h>

#include "lines/decoder.h"

#define BEGINS(text)  .bytes = (text), .len = sizeof(text) - 1
#define MARK(text)    BEGINS(text), .mark = sizeof(text) - 1
#define CODED(format) .content = CONTENT_CODED, .decoder = &(format)
#define FOREIGN(name_, before_, after_)                                                            \
    .content = CONTENT_FOREIGN, .name = (name_), .before = (before_), .after = (after_)
/* A file of chunks (docs/format.md): the type, a length below 64 KiB, the id, 8 bytes of 0, and the
 * magic of the payload. */
#define CHUNKS(letter)                                                                             \
    BEGINS("UN" letter "H\0\0\0\0"                                                                 \
           "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x89UN" letter "\r\n\x1a\n"),                          \
        .mask = "\xff\xff\xff\xff\0\0\xff\xff\0\0\0\0\0\0\0\0"                                     \
                "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"

/* The first row that fits counts. */
static const struct magic magics[] = {
    {BEGINS("\x1f\x8b\x08"), .cut_len = 2, CODED(decode_gzip)},
    {BEGINS("\x28\xb5\x2f\xfd"), .cut_len = 2, CODED(decode_zstd)},
    /* a skippable frame, which parallel compressors write */
    {BEGINS("\x50\x2a\x4d\x18"), .mask = "\xf0\xff\xff\xff", CODED(decode_zstd)},
    {BEGINS("\xfd"
            "7zXZ\0"),
     .cut_len = 2, CODED(decode_xz)},
    /* a block, or the end of a file without blocks; the fourth byte is the size of the blocks */
    {BEGINS("BZh\0\x31\x41\x59\x26\x53\x59"), .mask = "\xff\xff\xff\0\xff\xff\xff\xff\xff\xff",
     CODED(decode_bzip2)},
    {BEGINS("BZh\0\x17\x72\x45\x38\x50\x90"), .mask = "\xff\xff\xff\0\xff\xff\xff\xff\xff\xff",
     CODED(decode_bzip2)},

    {MARK("\xef\xbb\xbf"), .content = CONTENT_LINES},
    /* before UTF-16, whose mark is the beginning of this one */
    {BEGINS("\xff\xfe\0\0"), FOREIGN("text in UTF-32", "iconv -f UTF-32 -t UTF-8 ", "")},
    {BEGINS("\0\0\xfe\xff"), FOREIGN("text in UTF-32", "iconv -f UTF-32 -t UTF-8 ", "")},
    {MARK("\xff\xfe"), CODED(decode_utf16le)},
    {MARK("\xfe\xff"), CODED(decode_utf16be)},

    {BEGINS("h\0t\0t\0p\0"),
     FOREIGN("text in UTF-16 without a mark of its byte order", "iconv -f UTF-16LE -t UTF-8 ", "")},
    {BEGINS("\0h\0t\0t\0p"),
     FOREIGN("text in UTF-16 without a mark of its byte order", "iconv -f UTF-16BE -t UTF-8 ", "")},

    {BEGINS("\x89UN"), FOREIGN("a store or a list of unseen", NULL, "unseen info ")},
    {CHUNKS("B"), FOREIGN("a bitmap of unseen", NULL, "unseen bits list ")},
    {CHUNKS("F"), FOREIGN("a foreign filter in the format of unseen", NULL, "unseen info ")},
    {CHUNKS("S"), FOREIGN("a set of unseen", NULL, "unseen info ")},
    {BEGINS("PK\x03\x04"), FOREIGN("a zip archive", "unzip -p ", "")},
    {BEGINS("PK\x05\x06"), FOREIGN("an empty zip archive", "unzip -p ", "")},
    {BEGINS("7z\xbc\xaf\x27\x1c"), FOREIGN("a 7z archive", "7z x -so ", "")},
    {BEGINS("Rar!\x1a\x07"), FOREIGN("a rar archive", "unrar p -inul ", "")},
    {BEGINS("\x04\x22\x4d\x18"), FOREIGN("lz4 data", "lz4 -dc ", "")},
    {BEGINS("\x02\x21\x4c\x18"), FOREIGN("lz4 data", "lz4 -dc ", "")},
    {BEGINS("\x1f\x9d"), FOREIGN("data of compress", "gzip -dc ", "")},
    /* zlib's header, where the bytes are not UTF-8 */
    {BEGINS("\x78\x01"), FOREIGN("zlib data", "pigz -dc ", "")},
    {BEGINS("\x78\x9c"), FOREIGN("zlib data", "pigz -dc ", "")},
    {BEGINS("\x78\xda\x00"), .mask = "\xff\xff\x80", FOREIGN("zlib data", "pigz -dc ", "")},
    {BEGINS("\x78\xda\xc0"), .mask = "\xff\xff\xc0", FOREIGN("zlib data", "pigz -dc ", "")},
    {BEGINS("LZIP\x01"), FOREIGN("lzip data", "lzip -dc ", "")},
    /* its first byte has other values, too, but no encoder writes them */
    {BEGINS("\x5d\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff"),
     .mask = "\xff\xff\xff\0\0\xff\xff\xff\xff\xff\xff\xff\xff",
     FOREIGN("lzma data", "xz -dc ", "")},
    {BEGINS("\x89LZO\0"), FOREIGN("lzop data", "lzop -dc ", "")},
    {BEGINS("\xff\x06\0\0sNaPpY"), FOREIGN("snappy data", "snzip -dc ", "")},
    {BEGINS("SQLite format 3\0"),
     FOREIGN("an SQLite database", "sqlite3 ", " 'SELECT url FROM table'")},
    {BEGINS("PAR1\x15"),
     FOREIGN("a Parquet file", "duckdb -csv -noheader -c \"SELECT url FROM '", "'\"")},
};

static const struct magic lines = {.content = CONTENT_LINES};
static const struct magic open_yet = {.content = CONTENT_OPEN};
static const struct magic tar = {FOREIGN("a tar archive", "tar -xOf ", ""), .decodes = true};

/* True if the first len bytes of p and of the magic fit. */
static bool fits(const struct magic *m, const unsigned char *p, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        const unsigned mask = m->mask ? (unsigned char)m->mask[i] : 0xff;
        if ((p[i] & mask) != ((unsigned char)m->bytes[i] & mask)) {
            return false;
        }
    }
    return true;
}

/* True if a block of 512 bytes begins a tar archive: its sum is written in it in octal. The digits
 * of the sum count as spaces. */
static bool is_tar(const unsigned char *p)
{
    enum {
        SUM_AT = 148,
        SUM_LEN = 8
    };
    uint64_t written = 0;
    uint64_t sum = 0;
    size_t ndigits = 0;
    for (size_t i = SUM_AT; i < SUM_AT + SUM_LEN; i++) {
        if (p[i] >= '0' && p[i] <= '7') {
            written = written * 8 + (uint64_t)(p[i] - '0');
            ndigits++;
        } else if (p[i] != ' ' && p[i] != '\0') {
            return false;
        }
    }
    for (size_t i = 0; i < MAGIC_BYTES; i++) {
        sum += i - SUM_AT < SUM_LEN ? ' ' : p[i];
    }
    return ndigits > 0 && sum == written;
}

const struct magic *magic_find(const void *p, size_t len, bool more)
{
    for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++) {
        const struct magic *m = &magics[i];
        const size_t least = !more && m->cut_len > 0 ? m->cut_len : m->len;
        if (fits(m, p, len < m->len ? len : m->len) && (more || len >= least)) {
            return len >= least ? m : &open_yet;
        }
    }
    if (len < MAGIC_BYTES) {
        return more ? &open_yet : &lines;
    }
    return is_tar(p) ? &tar : &lines;
}
