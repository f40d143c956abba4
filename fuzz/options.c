/* SPDX-License-Identifier: MIT
 *
 * The options of AddressSanitizer in the libFuzzer programs. Freed memory waits in the quarantine
 * before it is used again. The default size, 256 MB, makes almost every allocation touch pages that
 * the kernel has to clear first. A few MB still hold all memory that some inputs freed. */

const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
    return "quarantine_size_mb=4:thread_local_quarantine_size_kb=256";
}
