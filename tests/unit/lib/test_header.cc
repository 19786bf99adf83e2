/* SPDX-License-Identifier: Apache-2.0 */
/* test_header.cc - test_header.c, read by a C++ compiler. */
#include "test_header.c"
