/* SPDX-License-Identifier: MIT */
#include "lines/libraries.h"

#include <stdio.h>
#include <zlib.h>
#include <zstd.h>

void libraries_print(void)
{
    printf("libraries: zlib %s, zstd %s\n", zlibVersion(), ZSTD_versionString());
}
