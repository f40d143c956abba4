/* SPDX-License-Identifier: MIT
 *
 * The vector kernels of the fast path, in steps of 64 bytes. Parameters:
 *
 *     FAST_NAME       the function to define
 *     FAST_WHOLE      a name for its half that can do everything
 *     FAST_SCAN       a name for the scan of that half
 *     FAST_TARGET     its target attribute
 *     FAST_MIN_LEN    the shortest input that FAST_READ takes
 *     FAST_READ_FIRST (in, len) -> struct masks of the first 64 bytes, without a branch on len
 *     FAST_SUSPECTS   (p) -> true if the 64 bytes from p on have a suspect, or a dot or %
 *                     behind a slash; it reads p[-1], too
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

/* Ports, missing slashes, suspects, fragments, hosts of any length. */
FAST_TARGET
static UNSEEN_NOINLINE bool FAST_WHOLE(const struct unseen_url *url, const char *in, size_t len,
                                       char *buf, size_t cap, struct unseen_canon *out)
{
    const uint64_t first = load_le64(in);
    const bool https = first == UINT64_C(0x2f2f3a7370747468);
    if (!https && first << 8 != UINT64_C(0x2f2f3a7074746800)) {
        return false;
    }
    const size_t host = https ? 8 : 7;
    const struct masks masks = FAST_READ_FIRST(in, len);
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
    const size_t path = unseen__fast_authority_end(in, host_end, len);
    if (path == 0) {
        return false;
    }
    const bool slash = path == len || in[path] != '/';
    size_t cut;
    return FAST_SCAN(url->rules, in, path, len, masks, &cut) &&
           unseen__fast_answer(in, len, path, slash, cut, buf, cap, out);
}

/* Most URLs have a host that ends within the first 64 bytes, a slash behind it, and no suspect.
 * This function proves that and nothing else, so that its values stay in registers; FAST_WHOLE
 * begins anew where the proof fails. There is no branch on http or https, nor on a length from 32
 * to 64: a list of URLs mixes these, and a mispredicted branch takes as long as half of the
 * scan. */
FAST_TARGET
bool FAST_NAME(const struct unseen_url *url, const char *in, size_t len, char *buf, size_t cap,
               struct unseen_canon *out)
{
    if (UNSEEN_UNLIKELY(len < FAST_MIN_LEN)) {
        return unseen__fast_portable(url, in, len, buf, cap, out);
    }
    const uint64_t first = load_le64(in);
    const size_t https = first == UINT64_C(0x2f2f3a7370747468);
    const size_t http = first << 8 == UINT64_C(0x2f2f3a7074746800);
    const size_t host = 7 + https;
    const struct masks masks = FAST_READ_FIRST(in, len);
    const uint64_t others = masks.others >> host << host;
    const uint64_t end = others & (0 - others);
    /* The label starts behind the last dot before the end, or at the host. */
    const uint64_t dots = (masks.dots & (end - 1)) | UINT64_C(1) << (host - 1);
    const size_t label = 64 - (size_t)__builtin_clzll(dots);
    const uint64_t suspects = (masks.suspects | (masks.dots & masks.slashes << 1)) & (0 - end);
    /* end is 0 if the host does not end here, and label may then be 64. */
    const bool is_plain = (http | https) && (masks.slashes & end) && end != UINT64_C(1) << label &&
                          (in[label] < '0' || in[label] > '9');
    if (UNSEEN_UNLIKELY(!is_plain || suspects != 0)) {
        return FAST_WHOLE(url, in, len, buf, cap, out);
    }
    /* The last 64 bytes may overlap those before them: they are looked at twice. */
    for (size_t at = 64; at < len; at += 64) {
        if (UNSEEN_UNLIKELY(FAST_SUSPECTS(in + (at < len - 64 ? at : len - 64)))) {
            return FAST_WHOLE(url, in, len, buf, cap, out);
        }
    }
    *out = (struct unseen_canon){UNSEEN_URL_UNCHANGED, {in, len}};
    return true;
}

#undef FAST_NAME
#undef FAST_WHOLE
#undef FAST_SCAN
#undef FAST_TARGET
#undef FAST_MIN_LEN
#undef FAST_READ_FIRST
#undef FAST_SUSPECTS
#undef FAST_READ
