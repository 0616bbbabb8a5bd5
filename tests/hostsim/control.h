/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* control - commands to a running host, by a socket: one line each, answered with text. */
int control_start(const char *path);                      /* listens in a thread; -errno */
int control_ask(const char *path, int argc, char **argv); /* the client; an exit code */
extern const char control_help[];
