/* SPDX-License-Identifier: MIT */
#include "lines/libraries.h"

#include <jansson.h>
#include <stdio.h>
#include <zlib.h>
#include <zstd.h>

void libraries_print(void)
{
    printf("libraries: zlib %s, zstd %s, jansson %s\n", zlibVersion(), ZSTD_versionString(),
           jansson_version_str());
}
