/* SPDX-License-Identifier: MIT
 *
 * The vector kernels of the fast path, in steps of 64 bytes. Parameters:
 *
 *     FAST_NAME       the function to define
 *     FAST_SCAN       a name for its scan
 *     FAST_TARGET     its target attribute
 *     FAST_MIN_LEN    the shortest input that FAST_READ takes
 *     FAST_READ       (in, at, len) -> struct masks of the 64 bytes from at on, of which those from
 *                     len on count as harmless; it reads nothing outside in[0..len)
 *
 * Everything between the masks and the answer is here. */

/* Scans all that follows the host. *cut_out is the length of the canonical form. */
FAST_TARGET
static bool FAST_SCAN(uint32_t rules, const char *in, size_t path, size_t len, struct masks masks,
                      size_t *cut_out)
{
    struct unseen__fast_state state = {.query = SIZE_MAX, .searched = path};
    uint64_t before = 0;
    uint64_t skip = path < 64 ? ~(uint64_t)0 << path : 0;
    *cut_out = len;
    for (size_t at = 0;;) {
        const uint64_t starts = masks.slashes << 1 | before;
        const uint64_t suspects = (masks.suspects | (masks.dots & starts)) & skip;
        if (UNSEEN_UNLIKELY(suspects != 0)) {
            const enum unseen__fast_verdict verdict =
                unseen__fast_judge_all(rules, in, at, suspects, len, &state, cut_out);
            if (verdict != UNSEEN__FAST_GO_ON) {
                return verdict == UNSEEN__FAST_CUT;
            }
        }
        at += 64;
        if (at >= len) {
            return true;
        }
        before = masks.slashes >> 63;
        skip = at >= path ? ~(uint64_t)0 : path - at < 64 ? ~(uint64_t)0 << (path - at) : 0;
        masks = FAST_READ(in, at, len);
    }
}

FAST_TARGET
bool FAST_NAME(const struct unseen_url *url, const char *in, size_t len, char *buf, size_t cap,
               struct unseen_canon *out)
{
    if (len < FAST_MIN_LEN) {
        return unseen__fast_portable(url, in, len, buf, cap, out);
    }
    const uint64_t first = load_le64(in);
    const bool https = first == UINT64_C(0x2f2f3a7370747468);
    if (!https && first << 8 != UINT64_C(0x2f2f3a7074746800)) {
        return false;
    }
    const size_t host = https ? 8 : 7;
    const struct masks masks = FAST_READ(in, 0, len);
    const uint64_t others = masks.others >> host << host;
    if (others == 0) {
        return unseen__fast_portable(url, in, len, buf, cap, out);
    }
    const size_t host_end = (size_t)__builtin_ctzll(others);
    const uint64_t dots = masks.dots & ((UINT64_C(1) << host_end) - 1);
    const size_t label = dots ? 64 - (size_t)__builtin_clzll(dots) : host;
    if (label == host_end || (in[label] >= '0' && in[label] <= '9')) {
        return false;
    }
    size_t path = host_end;
    if (path < len && in[path] == ':') {
        path = unseen__fast_port(in, path, len);
        if (path == 0) {
            return false;
        }
    }
    const bool slash = path == len || in[path] != '/';
    if (slash && path < len && in[path] != '?' && in[path] != '#') {
        return false;
    }
    size_t cut;
    return FAST_SCAN(url->rules, in, path, len, masks, &cut) &&
           unseen__fast_answer(in, len, path, slash, cut, buf, cap, out);
}

#undef FAST_NAME
#undef FAST_SCAN
#undef FAST_TARGET
#undef FAST_MIN_LEN
#undef FAST_READ
