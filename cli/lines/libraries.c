/* SPDX-License-Identifier: MIT */
#include "lines/libraries.h"

#include <bzlib.h>
#include <lzma.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#ifdef UNSEEN_ISAL
#include <isa-l.h>
#endif

/* The value of a macro as a string. */
#define TEXT(macro)   TEXT_OF(macro)
#define TEXT_OF(text) #text

void libraries_print(void)
{
#ifdef UNSEEN_ISAL
    const char *isal = ", ISA-L " TEXT(ISAL_MAJOR_VERSION) "." TEXT(ISAL_MINOR_VERSION);
#else
    const char *isal = "";
#endif
    const char *bzip2 = BZ2_bzlibVersion(); /* "1.0.8, 13-Jul-2019" */
    printf("libraries: zlib %s, zstd %s, liblzma %s, bzip2 %.*s%s\n", zlibVersion(),
           ZSTD_versionString(), lzma_version_string(), (int)strcspn(bzip2, ","), bzip2, isal);
}
