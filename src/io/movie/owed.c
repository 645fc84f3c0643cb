/* SPDX-License-Identifier: MIT */
#include "owed.h"

void movie_owed_add(movie_owed *owed, const AVPacket *packet, int complaints)
{
    owed->list[owed->next].time = packet->pts != AV_NOPTS_VALUE ? packet->pts : packet->dts;
    owed->list[owed->next].complaints = complaints;
    owed->list[owed->next].open = true;
    owed->next = (owed->next + 1) % OWED_PACKETS;
}

void movie_owed_pay(movie_owed *owed, const AVFrame *frame)
{
    const int64_t time = frame->pts != AV_NOPTS_VALUE ? frame->pts : frame->pkt_dts;
    for (int i = 0; i < OWED_PACKETS; i++)
        if (owed->list[i].open && owed->list[i].time == time) {
            owed->list[i].open = false;
            return;
        }
}

void movie_owed_forget(movie_owed *owed, int64_t time)
{
    for (int i = 0; i < OWED_PACKETS; i++)
        owed->list[i].open &= owed->list[i].time >= time;
}

int movie_owed_lost(const movie_owed *owed, int complaints)
{
    int lost = 0;
    for (int i = 0; i < OWED_PACKETS; i++)
        lost += owed->list[i].open && owed->list[i].complaints < complaints;
    return lost;
}
