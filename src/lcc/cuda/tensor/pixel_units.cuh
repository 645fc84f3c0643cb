/* SPDX-License-Identifier: MIT */
/* 8 pixels of 3 bytes (RGB) or of 2 (gray of 16 bits, low byte first), which become units of planes. */
#ifndef TMATCH_LCC_CUDA_TENSOR_PIXEL_UNITS_CUH
#define TMATCH_LCC_CUDA_TENSOR_PIXEL_UNITS_CUH
#include "lcc/cuda/tensor/ring.cuh"

/* The words from that one on in which the first pixel begins. */
template <int BYTES>
struct tm_pixel_unit {
    enum { WORDS = 2 * BYTES };
    uint32_t word[WORDS + 1];

    /* Stores 8 bytes in each plane: of the channels, or of the low and the high bytes. to: the place in the first plane; apart: bytes from
     * one plane to the next; shift: bits of the first word before the pixels. */
    __device__ __forceinline__ void store(unsigned to, unsigned apart, unsigned shift) const
    {
        uint32_t of[BYTES][2];
#pragma unroll
        for (int half = 0; half < 2; half++) {
            uint32_t v[3] = {};
#pragma unroll
            for (int w = 0; w < BYTES; w++)
                v[w] = __funnelshift_r(word[half * BYTES + w], word[half * BYTES + w + 1], shift);
            of[0][half] = BYTES == 3 ? __byte_perm(__byte_perm(v[0], v[1], 0x0630), v[2], 0x5210) : __byte_perm(v[0], v[1], 0x6420);
            of[1][half] = BYTES == 3 ? __byte_perm(__byte_perm(v[0], v[1], 0x0741), v[2], 0x6210) : __byte_perm(v[0], v[1], 0x7531);
            of[BYTES - 1][half] = BYTES == 3 ? __byte_perm(__byte_perm(v[0], v[1], 0x0052), v[2], 0x7410) : of[BYTES - 1][half];
        }
#pragma unroll
        for (int plane = 0; plane < BYTES; plane++)
            tm_store8(to + plane * apart, make_uint2(of[plane][0], of[plane][1]));
    }

    /* Stores 8 bytes of gray of 16 bits, of the bits from number first on, which is at most 8. Returns all bits from there on of any of so many
     * pixels: of some of them in the low half, of the others in the high one; what is in each half's last first bits is of no use. */
    __device__ __forceinline__ unsigned store_bits(unsigned to, unsigned shift, unsigned first, int pixels) const
    {
        static_assert(BYTES == 2, "a word is two pixels");
        uint32_t v[WORDS];
#pragma unroll
        for (int w = 0; w < WORDS; w++)
            v[w] = __funnelshift_rc(word[w], word[w + 1], shift + first); // what comes from the next pixel is not taken
        tm_store8(to, make_uint2(__byte_perm(v[0], v[1], 0x6420), __byte_perm(v[2], v[3], 0x6420)));
        if (pixels < 8) // seldom
#pragma unroll
            for (int w = 0; w < WORDS; w++)
                v[w] &= pixels > 2 * w + 1 ? ~0u : pixels > 2 * w ? 0xffffu : 0;
        return v[0] | v[1] | v[2] | v[3];
    }
};

#endif
