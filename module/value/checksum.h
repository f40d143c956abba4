/* SPDX-License-Identifier: MIT
 *
 * CRC-32C (Castagnoli). It protects what the module itself writes: settings, changes, and the ends
 * of values. The chunks of a set have checksums of their own. */
#ifndef UNSEEN_MODULE_CHECKSUM_H
#define UNSEEN_MODULE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* Fills in the table. Call it once, before all others. */
void checksum_init(void);

uint32_t checksum_of(const void *data, size_t len);

/* Appends the checksum of buf[0..len) as 4 bytes, little-endian. Returns the new length. */
size_t checksum_append(uint8_t *buf, size_t len);

/* Returns the length without the checksum, or SIZE_MAX if it is wrong or missing. */
size_t checksum_strip(const uint8_t *buf, size_t len);

#endif
