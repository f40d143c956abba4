/* SPDX-License-Identifier: MIT
 *
 * Domain to ASCII. */
#include <string.h>
#include <stdlib.h>

#include <idn2.h>

#include "url/host.h"

static bool is_ascii(const char *in, size_t len)
{
    unsigned char all = 0;
    for (size_t i = 0; i < len; i++) {
        all |= (unsigned char)in[i];
    }
    return all < 0x80;
}

bool unseen__idna_to_ascii(const char *in, size_t len, char *out, size_t cap, size_t *out_len)
{
    if (is_ascii(in, len)) {
        if (len > cap) {
            return false;
        }
        for (size_t i = 0; i < len; i++) {
            out[i] = in[i] >= 'A' && in[i] <= 'Z' ? (char)(in[i] | 0x20) : in[i];
        }
        *out_len = len;
        return true;
    }
    return false;
}
