/* SPDX-License-Identifier: MIT */
/* Frame rows in shared memory as wgmma reads them, and how they are loaded and stored.
 *
 * wgmma.cu keeps each row as its 16-byte units [8u, 8u + 16), which overlap: the units m, m + 1,
 * ... are the lines of A as they lie. Byte 8u of a row stands in unit u and in unit u - 1. */
#ifndef TMATCH_LCC_CUDA_TENSOR_RING_CUH
#define TMATCH_LCC_CUDA_TENSOR_RING_CUH
#include "lcc/cuda/tensor/kernels.cuh"

enum { TM_RING_UNITS = TILE_WIDTH / 8 + 3, TM_RING_ROW_BYTES = 16 * TM_RING_UNITS };

/* A ring of frame rows of so many bytes, in groups of 8. A step's first row is the first one of a group. */
template <int ROW_BYTES>
struct tm_ring_of {
    unsigned rows;    // address of slot 0
    int count, first; // slot of the step's first row

    /* The address of the group that the step's row r is in. */
    __device__ __forceinline__ unsigned group(int r) const
    {
        int slot = first + (r & ~7);
        return rows + (slot < count ? slot : slot - count) * ROW_BYTES;
    }

    __device__ __forceinline__ unsigned row(int r) const
    {
        return group(r) + (r & 7) * ROW_BYTES;
    }

    __device__ __forceinline__ void step()
    {
        first += 8;
        first = first < count ? first : 0;
    }
};

typedef tm_ring_of<TM_RING_ROW_BYTES> tm_ring;

/* The rows that a step reads for windows of h rows, and the group of 8 that is staged meanwhile. */
__host__ __device__ __forceinline__ int tm_ring_rows(int h)
{
    return (h + 15) / 8 * 8 + 8;
}

/* The addresses of a step's rows i and i + h, i < 8, which leave the windows and enter them. */
template <int ROW_BYTES>
struct tm_ring_pair_of {
    unsigned out, in, in_next; // of row 0, if all were in its group
    int turn;                  // the first row i for which row i + h is in the next group

    __device__ __forceinline__ tm_ring_pair_of(const tm_ring_of<ROW_BYTES> &ring, int h)
    {
        out = ring.group(0);
        turn = 8 - (h & 7);
        in = ring.group(h) + (h & 7) * ROW_BYTES;
        in_next = ring.group(h + 7) - turn * ROW_BYTES;
    }

    __device__ __forceinline__ unsigned leaving(int i) const
    {
        return out + i * ROW_BYTES;
    }

    __device__ __forceinline__ unsigned entering(int i) const
    {
        return (i < turn ? in : in_next) + i * ROW_BYTES;
    }
};

typedef tm_ring_pair_of<TM_RING_ROW_BYTES> tm_ring_pair;

/* Begins to copy 16 bytes of a frame row, from a multiple of 8 columns on, to a unit. */
__device__ __forceinline__ void tm_ring_copy(unsigned dst, const uint8_t *src)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8; cp.async.ca.shared.global "
                 "[%0 + 8], [%1 + 8], 8;" ::"r"(dst),
                 "l"(src)
                 : "memory");
}

__device__ __forceinline__ unsigned tm_load4(unsigned address)
{
    unsigned v;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(address) : "memory");
    return v;
}

__device__ __forceinline__ uint2 tm_load8(unsigned address)
{
    uint2 v;
    asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];"
                 : "=r"(v.x), "=r"(v.y)
                 : "r"(address)
                 : "memory");
    return v;
}

__device__ __forceinline__ uint4 tm_load16(unsigned address)
{
    uint4 v;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(address) : "memory");
    return v;
}

__device__ __forceinline__ void tm_store8(unsigned address, uint2 v)
{
    asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(address), "r"(v.x), "r"(v.y) : "memory");
}

__device__ __forceinline__ void tm_store16(unsigned address, uint4 v)
{
    asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}

/* Byte i of a word of G, as int. prmt can repeat a byte's sign, which __byte_perm cannot. */
__device__ __forceinline__ int tm_signed_byte(unsigned word, int i)
{
    int byte;
    asm("prmt.b32 %0, %1, 0, %2;" : "=r"(byte) : "r"(word), "r"(0x8880 + 0x1111 * i));
    return byte;
}

/* 8 bytes of F, as G = F - 128. */
__device__ __forceinline__ uint2 tm_load8_g(unsigned address)
{
    uint2 v = tm_load8(address);
    return make_uint2(v.x ^ 0x80808080, v.y ^ 0x80808080);
}

/* The first 8 bytes of a row's unit u, as G. They stand in that unit's lower half and in the upper
 * half of the unit before. Lanes 8..15 and 24..31 take the second copy, so that all lanes together
 * take every bank. */
__device__ __forceinline__ uint2 tm_ring_load_g(unsigned row, int u)
{
    return tm_load8_g(row + 16 * u - (u & 8));
}

/* Stores both copies of them. Unit 0 has no unit before it: there 8 bytes before the row take the
 * second one. */
__device__ __forceinline__ void tm_ring_store(unsigned row, int u, uint2 v)
{
    tm_store8(row + 16 * u - (u & 8), v);
    tm_store8(row + 16 * u - 8 + (u & 8), v);
}

/* G^2 of in minus G^2 of out, for 8 columns: low bytes and high bytes. */
__device__ __forceinline__ void tm_square_difference(uint2 in, uint2 out, uint2 &low, uint2 &high)
{
    unsigned l[2], h[2];
#pragma unroll
    for (int half = 0; half < 2; half++) {
        unsigned a = half ? in.y : in.x, b = half ? out.y : out.x, d[4];
#pragma unroll
        for (int e = 0; e < 4; e++) {
            int g = tm_signed_byte(a, e), f = tm_signed_byte(b, e);
            d[e] = (unsigned)(g * g - f * f);
        }
        unsigned p = __byte_perm(d[0], d[1], 0x5140), q = __byte_perm(d[2], d[3], 0x5140);
        l[half] = __byte_perm(p, q, 0x5410), h[half] = __byte_perm(p, q, 0x7632);
    }
    low = make_uint2(l[0], l[1]), high = make_uint2(h[0], h[1]);
}

/* Loads a warp's A from shared memory. A lane's address is that of 16 bytes of a line. */
__device__ __forceinline__ void tm_load_a(unsigned (&a)[4], unsigned address)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                 : "r"(address)
                 : "memory");
}

/* d[0..3] += A B. A's bytes are unsigned, or SIGNED; B's are signed. */
template <bool SIGNED>
__device__ __forceinline__ void tm_mma_add(int *d, const unsigned (&a)[4], unsigned b0, unsigned b1)
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

/* This thread's part of B: the Toeplitz matrix of ones for w columns, and less it. */
__device__ __forceinline__ void tm_make_ones(unsigned (&ones)[2], unsigned (&minus_ones)[2], int w)
{
    int l = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        ones[i] = 0;
        for (int b = 0; b < 4; b++) {
            int x = 16 * i + 4 * (l & 3) + b - l / 4;
            ones[i] |= (unsigned)(x >= 0 && x < w) << 8 * b;
        }
        minus_ones[i] = 255 * ones[i];
        /* The compiler would make these again at each step. */
        asm volatile("" : "+r"(ones[i]), "+r"(minus_ones[i]));
    }
}

/* Byte i of each of four words. */
__device__ __forceinline__ unsigned tm_gather_bytes(const unsigned *v, int i)
{
    unsigned s = 0x0040 + 0x11 * i;
    return __byte_perm(__byte_perm(v[0], v[1], s), __byte_perm(v[2], v[3], s), 0x5410);
}

#endif
