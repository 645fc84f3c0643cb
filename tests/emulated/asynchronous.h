/* SPDX-License-Identifier: MIT */
/* What threads begin and wait for later: copies to shared memory, barriers in it, products of wgmma. Addresses are those of shared memory,
 * as 32 bits: bytes from em_shared on. */
#ifndef TMATCH_EMULATED_ASYNCHRONOUS_H
#define TMATCH_EMULATED_ASYNCHRONOUS_H

[[noreturn]] void em_fail(const char *why);

static inline size_t __cvta_generic_to_shared(const void *at)
{
    return (size_t)((const uint8_t *)at - em_shared);
}

template <class T> static inline T &em_at(unsigned address)
{
    if (address % sizeof(T))
        em_fail("an address in shared memory that is no multiple of what lies there");
    return *(T *)(em_shared + (int)address);
}

struct em_barrier {
    uint16_t expected, pending;
    uint32_t phase;
};

static inline void em_barrier_init(unsigned barrier, int arrivals)
{
    em_at<em_barrier>(barrier) = {(uint16_t)arrivals, (uint16_t)arrivals, 0};
}

static inline void em_barrier_arrive(unsigned barrier)
{
    em_barrier &b = em_at<em_barrier>(barrier);
    if (--b.pending == 0)
        b.pending = b.expected, b.phase++;
    em_wait_for(EM_OTHERS);
}

static inline void em_barrier_wait(unsigned barrier, unsigned phase)
{
    while ((em_at<em_barrier>(barrier).phase & 1) == (phase & 1))
        em_wait_for(EM_OTHERS);
    __syncwarp();
}

/* Copies of the running thread: begun; those so far are a group; all groups come but the last ones. */
void em_copy(unsigned to, const void *from, unsigned bytes);
void em_copy_group();
void em_copy_wait(int last);

/* Products that a warp has taken part in. All four warps of a group have to. */
extern int em_products[];

/* d = A B or d += A B, 64 x 128 x 32, at once, of the low words of matrices' descriptors. A's bytes have a sign. */
static inline void em_wgmma_signed(int (&d)[16][4], unsigned a, unsigned b, int more, int b_apart, int a_apart)
{
    const uint8_t *const of_a = em_shared + a % 65536 * 16, *const of_b = em_shared + b % 65536 * 16;
    const unsigned half_a = (a >> 16) * 16, half_b = (b >> 16) * 16;
    const int lane = em_thread % 32, warp = em_thread / 32 % 4;
    em_products[em_thread / 32] += lane == 0;
    for (int i = 0; i < 16; i++)
        for (int c = 0; c < 4; c++) {
            const int line = 16 * warp + lane / 4 + 8 * (c / 2), column = 8 * i + 2 * (lane % 4) + c % 2;
            const uint8_t *x = of_a + line / 8 * a_apart + line % 8 * 16, *y = of_b + column / 8 * b_apart + column % 8 * 16;
            int sum = more ? d[i][c] : 0;
            for (int k = 0; k < 16; k++)
                sum += (int8_t)x[k] * y[k] + (int8_t)x[half_a + k] * y[half_b + k];
            d[i][c] = sum;
        }
}

/* d += A B, 64 x 64 x 32, at once, where a has this thread's part of A, and B's bytes have a sign. Of 8 columns of B to the next: 256 bytes. */
static inline void em_wgmma_add_signed(int (&d)[8][4], const unsigned (&a)[4], unsigned b)
{
    const uint8_t *const of_b = em_shared + b % 65536 * 16;
    const unsigned half_b = (b >> 16) * 16;
    const int lane = em_thread % 32;
    uint8_t lines[2][32]; // of A: lane / 4, and 8 further
    em_products[em_thread / 32] += lane == 0;
    for (int t = 0; t < 4; t++)
        for (int i = 0; i < 4; i++) {
            const unsigned part = __shfl_sync(~0u, a[i], lane / 4 * 4 + t);
            memcpy(&lines[i % 2][i / 2 * 16 + 4 * t], &part, 4);
        }
    for (int i = 0; i < 8; i++)
        for (int c = 0; c < 4; c++) {
            const uint8_t *const x = lines[c / 2], *const y = of_b + i * 256 + (lane % 4 * 2 + c % 2) * 16;
            for (int k = 0; k < 16; k++)
                d[i][c] += x[k] * (int8_t)y[k] + x[16 + k] * (int8_t)y[half_b + k];
        }
}

#endif
