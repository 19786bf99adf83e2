#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# no_aslr.sh COMMAND... - the command with addresses where ThreadSanitizer expects them: kernels that spread
# them over more bits than it knows of make it stop with "unexpected memory mapping" (gcc 12, clang 16).
if setarch -R true 2>/dev/null; then
    exec setarch -R "$@"
fi
exec "$@"
