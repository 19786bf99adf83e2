/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_table.h - the generated table (gen_commands.py) as command.c sees it; users include
 * command.h. Immutable: any thread.
 */
#ifndef GY_WIRE_COMMAND_TABLE_H
#define GY_WIRE_COMMAND_TABLE_H

#include "wire/command.h"

enum { GY_COMMAND_SLOTS = 1024 };

extern const uint32_t gy_command_mul;
extern const size_t gy_command_rows;
extern const struct gy_command gy_command_table[]; /* sorted by name */
/* Row + 1 of the names without a bar, by hash; 0: free. Half of it is free, so probes are short. */
extern const uint16_t gy_command_slots[GY_COMMAND_SLOTS];

/* Four letters and the length of a name, case folded: enough to tell nearly all apart. n > 0. The
 * generator has the same function. */
static inline uint32_t gy_command_hash(const uint8_t *s, size_t n)
{
    uint32_t mixed = ((uint32_t)(s[0] | 0x20) | (uint32_t)(s[n / 2] | 0x20) << 8 |
                      (uint32_t)(s[n - 1] | 0x20) << 16 | (uint32_t)n << 24);
    return ((mixed ^ (uint32_t)(s[n / 3] | 0x20) << 12) * gy_command_mul) >> 22;
}

#endif
