/* SPDX-License-Identifier: MIT */
#include "seen/seed.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "characters.h"
#include "print/message.h"

static bool is_hex(const char *text, size_t len)
{
    return len >= 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
}

bool seed_parse(struct seed *seed, const char *text, size_t len)
{
    const bool hex = is_hex(text, len);
    const size_t n = hex ? (len - 2) / 2 : len;
    if (n == 0 || n > SEED_MAX || (hex && len % 2)) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        const int byte = hex ? hex_byte(text + 2 + 2 * i) : text[i];
        if (hex && byte < 0) {
            return false;
        }
        seed->bytes[i] = (char)byte;
    }
    seed->len = n;
    return true;
}

bool seed_read(struct seed *seed, const char *name)
{
    char text[SEED_MAX + sizeof("\r\n")];
    FILE *file = fopen(name, "rbe");
    if (!file) {
        message_error("--seed-file %s: %s", name, strerror(errno));
        return false;
    }
    setvbuf(file, NULL, _IONBF, 0); /* leaves no copy of the seed in a buffer */
    size_t len = fread(text, 1, sizeof(text), file);
    const int code = ferror(file) ? errno : 0;
    (void)fclose(file); /* was only read */
    if (code != 0) {
        message_error("--seed-file %s: %s", name, strerror(code));
        return false;
    }
    if (len > 0 && text[len - 1] == '\n') {
        len -= len > 1 && text[len - 2] == '\r' ? 2 : 1;
    }
    if (len > SEED_MAX) {
        message_error("--seed-file %s has more than %d bytes", name, SEED_MAX);
        message_hint("(umask 077; openssl rand -hex 32 > seed.key)");
        return false;
    }
    if (!seed_parse(seed, text, len)) {
        message_error(
            "--seed-file %s is empty, or begins with 0x and has no pairs of hexadecimal digits",
            name);
        message_hint("(umask 077; openssl rand -hex 32 > seed.key)");
        return false;
    }
    return true;
}
