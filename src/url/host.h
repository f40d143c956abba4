/* SPDX-License-Identifier: MIT
 *
 * Hosts: domain to ASCII, IPv4 numbers, IPv6 addresses. The URL schemes and the kinds of entries
 * use them. */
#ifndef UNSEEN_URL_HOST_H
#define UNSEEN_URL_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Domain to ASCII of the WHATWG URL standard (UTS 46, not transitional, any length) for a
 * percent-decoded domain. An ASCII domain is lower-cased and never fails; anything else goes to
 * libidn2. Writes at most cap bytes to out and their number to *out_len; false if the domain is not
 * valid or does not fit. in and out may be the same. */
bool unseen__idna_to_ascii(const char *in, size_t len, char *out, size_t cap, size_t *out_len);

/* Does the last label say that the host is an IPv4 address? Then the host is that or invalid. */
bool unseen__ipv4_wanted(const char *in, size_t len);

/* Reads an address of 1 to 4 parts. Returns false if it is not valid. */
bool unseen__ipv4_parse(const char *in, size_t len, uint32_t *address_out);

/* Reads exactly a.b.c.d: four decimal numbers without leading zeros. */
bool unseen__ipv4_parse_strict(const char *in, size_t len, uint32_t *address_out);

/* Writes a.b.c.d, at most 15 bytes; returns their number. */
size_t unseen__ipv4_write(uint32_t address, char *out);

/* Reads an address that stands between [ and ]. Returns false if it is not valid. */
bool unseen__ipv6_parse(const char *in, size_t len, uint16_t pieces[8]);

/* Writes the compressed lower-case form without brackets, at most 39 bytes; returns their
 * number. */
size_t unseen__ipv6_write(const uint16_t pieces[8], char *out);

#endif
