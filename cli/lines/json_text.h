/* SPDX-License-Identifier: MIT
 *
 * The text of a JSON value that is compared: equal for two spellings of one value. */
#ifndef UNSEEN_CLI_JSON_TEXT_H
#define UNSEEN_CLI_JSON_TEXT_H

#include <unseen.h>

#include "lines/text.h"

/* The text of a value as json_find finds it:
 *
 *     string            its bytes, without escapes
 *     integer           as it is written, of any size; -0 is 0
 *     other number      17 significant digits of the double nearest to it (1e2 and 100.0: 100.0);
 *                       as it is written if it is out of the range of a double
 *     true, false       the word
 *
 * *text_out is a part of the value, or stands at the end of `room` and is valid until room grows.
 * Some values have no text: an object, an array, null, NaN or another word, and a string with an
 * unknown escape sequence. For these text_out->data is NULL. Errors: NOMEM. */
enum unseen_status json_text(struct unseen_bytes value, struct text *room,
                             struct unseen_bytes *text_out);

#endif
