/* SPDX-License-Identifier: MIT
 *
 * Opens frozen layers, which `unseen import` makes of other programs' Bloom filters. */
#ifndef UNSEEN_CLI_LAYERS_H
#define UNSEEN_CLI_LAYERS_H

#include <stdbool.h>

#include <unseen_layer.h>

/* Reads the layer at path. False if that failed, which has been reported. The caller frees
 * *layer_out. */
bool layers_open(struct unseen_layer **layer_out, const char *path);

/* Reports an error of any function of a layer. */
void layers_report(const char *path, const struct unseen_error *error);

#endif
