/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * thread - how a worker starts, sleeps and is told: small detached threads, eventfds.
 */
#include "base.h"

/* -errno of pthread_create(). The argument must outlive the thread. */
int thread_start(void *(*run)(void *), void *argument) _must_check_;
/* Until somebody tells this eventfd; once for all that was told before. */
void thread_sleep(int wake_fd);
void thread_tell(int eventfd);
