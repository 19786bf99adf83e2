/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scripts.h - the completion scripts of completions/, as they were when this program was built.
 * Threads: any.
 */
#ifndef GY_CLI_SCRIPTS_H
#define GY_CLI_SCRIPTS_H

struct gy_script {
    const char *shell, *text;
};

extern const struct gy_script gy_scripts[]; /* ends with a row without shell */

#endif
