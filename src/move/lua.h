/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lua.h - the function library `gyre` (gyre.lua) as text, for FUNCTION LOAD REPLACE. Constant.
 */
#ifndef GY_MOVE_LUA_H
#define GY_MOVE_LUA_H

extern const char gy_lua_source[];

#endif
