// SPDX-License-Identifier: Apache-2.0
// Calls of the C library that Swift does not import.
#include <sys/statfs.h>
#include <sys/timex.h>
