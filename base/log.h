/* SPDX-License-Identifier: ISC */
#ifndef BASE_LOG_H
#define BASE_LOG_H

/*
 * The journal is the record; the log is for the person at the console.  One
 * line a call, key=value, to descriptor 2.  Only mains and effect runners call
 * it; nothing secret, nothing an agent said, ever, except escaped and bounded.
 */
enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

void log_init(const char *program, enum log_level most);
void log_event(enum log_level level, const char *event, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
