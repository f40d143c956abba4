/* SPDX-License-Identifier: MIT */
#include "list/ask.h"
