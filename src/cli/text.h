/* SPDX-License-Identifier: MIT */
/* How names and numbers are spelt in the output. Names are bytes, as the
 * system has them: any byte but 0, in any encoding or none. */
#ifndef TMATCH_CLI_TEXT_H
#define TMATCH_CLI_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include <tmatch/tmatch.h>

/* A JSON string with its quotes. JSON is Unicode and has no bytes: what is not
 * valid UTF-8 becomes U+FFFD, one for each byte, so such a name does not read
 * back. CSV and text keep it. */
void text_json(FILE *out, const char *name);

/* The same, but a byte that is not valid UTF-8 becomes U+DC80 to U+DCFF, as in Python's surrogateescape,
 * so that the name can be read back. */
void text_json_bytes(FILE *out, const char *name);
bool text_is_utf8(const char *name);

/* A CSV field as RFC 4180 has it, quoted where it must be; newlines and tabs stay. Other
 * control characters become \x1b and the like. A name that a spreadsheet would take for a
 * formula, as it begins with = + - @ or white space, gets "./" before it, which
 * is the same file. */
void text_csv(FILE *out, const char *name);

/* The bytes as they are, but control characters, C1 too, as \n, \t, \x1b, so that a
 * line stays a line and a terminal is safe. */
void text_line(FILE *out, const char *name);

/* The path without its folders. */
const char *text_base_name(const char *path);

/* A word as a shell reads it back: quoted where it must be, and as bash's $'\x1b' where it
 * has control characters or is not UTF-8. */
void text_shell(FILE *out, const char *word);

/* The fewest of 6 to 9 digits that read back as the same float; CCORR: the
 * integer. */
enum { TEXT_SCORE_SIZE = 32 };
void text_score(char buffer[TEXT_SCORE_SIZE], bool integer, double score);

/* Shorter, for pictures: 4 digits. */
void text_label(char buffer[TEXT_SCORE_SIZE], bool integer, double score);


/* "01:02:03.500", hours, minutes and seconds. */
enum { TEXT_CLOCK_SIZE = 32 };
void text_clock(char buffer[TEXT_CLOCK_SIZE], double seconds);

#endif
