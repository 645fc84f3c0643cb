/* SPDX-License-Identifier: MIT */
/* Which templates' searches did not pay. After each frame in succession for which that was so, twice
 * as many, and one, are searched without. */
#ifndef TMATCH_LCC_PAUSES_H
#define TMATCH_LCC_PAUSES_H

#include <stdbool.h>
#include <stdint.h>

enum { TM_PAUSES = 64, TM_LONGEST_PAUSE = 127 };

typedef struct tm_pause {
    uint64_t hash; /* the template's */
    int frames;    /* of the last pause; 0: the last search paid */
    int left;
} tm_pause;

/* Zero-initialise. A template takes the place of another one, whose pause is forgotten. */
typedef struct tm_pauses {
    tm_pause list[TM_PAUSES];
} tm_pauses;

static inline tm_pause *tm_pause_of(tm_pauses *pauses, uint64_t hash)
{
    tm_pause *pause = &pauses->list[hash % TM_PAUSES];
    if (pause->hash != hash)
        *pause = (tm_pause){.hash = hash};
    return pause;
}

/* Whether the template's next frame is one of a pause; it is counted then. */
static inline bool tm_pause_skips(tm_pauses *pauses, uint64_t hash)
{
    tm_pause *pause = tm_pause_of(pauses, hash);
    if (pause->left == 0)
        return false;
    pause->left--;
    return true;
}

/* Notes how a search went. */
static inline void tm_pause_note(tm_pauses *pauses, uint64_t hash, bool paid)
{
    tm_pause *pause = tm_pause_of(pauses, hash);
    pause->frames = paid ? 0 : 2 * pause->frames + 1;
    if (pause->frames > TM_LONGEST_PAUSE)
        pause->frames = TM_LONGEST_PAUSE;
    pause->left = pause->frames;
}

#endif
