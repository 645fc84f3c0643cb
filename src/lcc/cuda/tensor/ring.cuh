/* SPDX-License-Identifier: MIT */
/* Frame rows in shared memory as wgmma reads them, and the way in and out of their units. */
#ifndef TMATCH_LCC_CUDA_TENSOR_RING_CUH
#define TMATCH_LCC_CUDA_TENSOR_RING_CUH
#include "lcc/cuda/tensor/cores.cuh"

enum { TC_UNITS = TW / 8 + 3, TC_ROW_BYTES = 16 * TC_UNITS };

/* Frame rows in shared memory, each as its 16-byte units [8u, 8u + 16); in groups of 8, the step's
 * first row the first of a group. */
struct tc_ring {
    unsigned rows;    // address
    int count, first; // slot of the step's first row

    __device__ __forceinline__ unsigned group(int r) const // of row r: its first row
    {
        int slot = first + (r & ~7);
        return rows + (slot < count ? slot : slot - count) * TC_ROW_BYTES;
    }

    __device__ __forceinline__ unsigned row(int r) const
    {
        return group(r) + (r & 7) * TC_ROW_BYTES;
    }

    __device__ __forceinline__ void step()
    {
        first += 8;
        first = first < count ? first : 0;
    }
};

/* What a step reads of h rows' windows, and the group of 8 rows that is staged meanwhile. */
__host__ __device__ __forceinline__ int tc_ring_rows(int h)
{
    return (h + 15) / 8 * 8 + 8;
}

/* Rows i and i + h of a step, i < 8. */
struct tc_ring_pair {
    unsigned out, in, in_next; // groups
    int turn;                  // from here on in is in the next group

    __device__ __forceinline__ tc_ring_pair(const tc_ring &ring, int h)
    {
        out = ring.group(0);
        turn = 8 - (h & 7);
        in = ring.group(h) + (h & 7) * TC_ROW_BYTES;
        in_next = ring.group(h + 7) - turn * TC_ROW_BYTES;
    }

    __device__ __forceinline__ unsigned leaving(int i) const
    {
        return out + i * TC_ROW_BYTES;
    }

    __device__ __forceinline__ unsigned entering(int i) const
    {
        return (i < turn ? in : in_next) + i * TC_ROW_BYTES;
    }
};

__device__ __forceinline__ uint2 tc_load8(unsigned address)
{
    uint2 v;
    asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];"
                 : "=r"(v.x), "=r"(v.y)
                 : "r"(address)
                 : "memory");
    return v;
}

__device__ __forceinline__ void tc_store8(unsigned address, uint2 v)
{
    asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(address), "r"(v.x), "r"(v.y) : "memory");
}

/* Byte i of a word of G, as int: prmt can repeat its sign, __byte_perm masks that out. */
__device__ __forceinline__ int tc_signed_byte(unsigned word, int i)
{
    int byte;
    asm("prmt.b32 %0, %1, 0, %2;" : "=r"(byte) : "r"(word), "r"(0x8880 + 0x1111 * i));
    return byte;
}

/* 8 bytes of F as G = F - 128 */
__device__ __forceinline__ uint2 tc_load8_g(unsigned address)
{
    uint2 v = tc_load8(address);
    return make_uint2(v.x ^ 0x80808080, v.y ^ 0x80808080);
}

/* A unit's own 8 bytes stand in its lower half, and in the upper half of the unit before. Lanes
 * 8..15 and 24..31 go to that copy: the banks of the others. */
__device__ __forceinline__ uint2 tc_load_g(unsigned row, int u)
{
    return tc_load8_g(row + 16 * u - (u & 8));
}

/* Both copies of a unit's own 8 bytes. Unit 0 has none before: there the row's 8 bytes of slack in
 * front take it. */
__device__ __forceinline__ void tc_store_unit(unsigned row, int u, uint2 v)
{
    tc_store8(row + 16 * u - (u & 8), v);
    tc_store8(row + 16 * u - 8 + (u & 8), v);
}

/* G^2 of in minus G^2 of out, for 8 columns: the low bytes, and the high ones. */
__device__ __forceinline__ void tc_square_difference(uint2 in, uint2 out, uint2 &low, uint2 &high)
{
    unsigned l[2], h[2];
#pragma unroll
    for (int half = 0; half < 2; half++) {
        unsigned a = half ? in.y : in.x, b = half ? out.y : out.x, d[4];
#pragma unroll
        for (int e = 0; e < 4; e++) {
            int g = tc_signed_byte(a, e), f = tc_signed_byte(b, e);
            d[e] = (unsigned)(g * g - f * f);
        }
        unsigned p = __byte_perm(d[0], d[1], 0x5140), q = __byte_perm(d[2], d[3], 0x5140);
        l[half] = __byte_perm(p, q, 0x5410), h[half] = __byte_perm(p, q, 0x7632);
    }
    low = make_uint2(l[0], l[1]), high = make_uint2(h[0], h[1]);
}

/* A from shared memory: a lane's address is that of a line's 16 bytes. */
__device__ __forceinline__ void tc_load_a(unsigned (&a)[4], unsigned address)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                 : "r"(address)
                 : "memory");
}

/* d[0..3] += A B, with A's bytes unsigned or SIGNED, B's signed */
template <bool SIGNED>
__device__ __forceinline__ void tc_multiply(int *d, const unsigned (&a)[4], unsigned b0,
                                            unsigned b1)
{
    if (SIGNED)
        asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
            "{%8,%9}, {%0,%1,%2,%3};"
            : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    else
        asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
            "{%8,%9}, {%0,%1,%2,%3};"
            : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/* The bytes number i of four words, i = 0, 1 or 2. */
__device__ __forceinline__ unsigned tc_bytes(const unsigned *v, int i)
{
    unsigned s = 0x0040 + 0x11 * i;
    return __byte_perm(__byte_perm(v[0], v[1], s), __byte_perm(v[2], v[3], s), 0x5410);
}

#endif
