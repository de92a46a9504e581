// SPDX-License-Identifier: Apache-2.0
// Calls of the C library that Swift does not import.
#include <malloc.h>
#include <sys/statfs.h>
#include <sys/timex.h>
