/* SPDX-License-Identifier: MIT */
#include "lines/libraries.h"

#include <bzlib.h>
#include <lzma.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

void libraries_print(void)
{
    const char *bzip2 = BZ2_bzlibVersion(); /* "1.0.8, 13-Jul-2019" */
    printf("libraries: zlib %s, zstd %s, liblzma %s, bzip2 %.*s\n", zlibVersion(),
           ZSTD_versionString(), lzma_version_string(), (int)strcspn(bzip2, ","), bzip2);
}
