/* SPDX-License-Identifier: MIT */
/* Products of wgmma: 64 x 64 x 32, 64 x 128 x 32 and 64 x 256 x 32; with A in registers 64 x 64 x 32. */
#ifndef TMATCH_LCC_CUDA_TENSOR_WGMMA_PRODUCT_CUH
#define TMATCH_LCC_CUDA_TENSOR_WGMMA_PRODUCT_CUH

#define R4(i) "+r"(d[i][0]), "+r"(d[i][1]), "+r"(d[i][2]), "+r"(d[i][3])

/* d = A B, or where more, d += A B. Only the low words of the matrices' descriptors change. The
 * high words say: K-major, without swizzle; so many bytes from 8 columns of B to the next, and from 8 lines
 * of A. */
template <int B_APART = 256, int A_APART = 128>
__device__ __forceinline__ void tm_wgmma(int (&d)[8][4], unsigned a, unsigned b, int more)
{
    asm volatile("{.reg .pred p; .reg .b64 a, b; setp.ne.s32 p, %34, 0; mov.b64 a, {%32, %36}; "
                 "mov.b64 b, {%33, %35}; "
                 "wgmma.mma_async.sync.aligned.m64n64k32.s32.u8.u8 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, "
                 "%18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, a, b, p;}"
                 : R4(0), R4(1), R4(2), R4(3), R4(4), R4(5), R4(6), R4(7)
                 : "r"(a), "r"(b), "r"(more), "n"(B_APART / 16), "n"(A_APART / 16));
}

/* TYPES: of A's and of B's bytes. */
#define WGMMA_128(TYPES)                                                                                                        \
    asm volatile("{.reg .pred p; .reg .b64 a, b; setp.ne.s32 p, %66, 0; mov.b64 a, {%64, %68}; "                               \
                 "mov.b64 b, {%65, %67}; "                                                                                     \
                 "wgmma.mma_async.sync.aligned.m64n128k32.s32." TYPES " "                                                      \
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, "                           \
                 "%18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, "                            \
                 "%34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, "                            \
                 "%50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, a, b, p;}"                            \
                 : R4(0), R4(1), R4(2), R4(3), R4(4), R4(5), R4(6), R4(7), R4(8), R4(9), R4(10), R4(11), R4(12), R4(13),       \
                   R4(14), R4(15)                                                                                              \
                 : "r"(a), "r"(b), "r"(more), "n"(B_APART / 16), "n"(A_APART / 16))

/* Likewise 64 x 128 x 32. */
template <int B_APART = 256, int A_APART = 128>
__device__ __forceinline__ void tm_wgmma(int (&d)[16][4], unsigned a, unsigned b, int more)
{
    WGMMA_128("u8.u8");
}

/* The same where A's bytes have a sign. */
template <int B_APART, int A_APART>
__device__ __forceinline__ void tm_wgmma_signed(int (&d)[16][4], unsigned a, unsigned b, int more)
{
    WGMMA_128("s8.u8");
}
#undef WGMMA_128

/* Likewise 64 x 256 x 32. */
__device__ __forceinline__ void tm_wgmma(int (&d)[32][4], unsigned a, unsigned b, int more)
{
    asm volatile("{.reg .pred p; .reg .b64 a, b; setp.ne.s32 p, %130, 0; mov.b64 a, {%128, 8}; "
                 "mov.b64 b, {%129, 16}; "
                 "wgmma.mma_async.sync.aligned.m64n256k32.s32.u8.u8 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
                 "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
                 "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
                 "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
                 "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
                 "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
                 "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, a, b, p;}"
                 : R4(0), R4(1), R4(2), R4(3), R4(4), R4(5), R4(6), R4(7),
                   R4(8), R4(9), R4(10), R4(11), R4(12), R4(13), R4(14), R4(15),
                   R4(16), R4(17), R4(18), R4(19), R4(20), R4(21), R4(22), R4(23),
                   R4(24), R4(25), R4(26), R4(27), R4(28), R4(29), R4(30), R4(31)
                 : "r"(a), "r"(b), "r"(more));
}

/* The same with A in registers, each thread's part as mma.sync has it; the warp's 16 lines are those of its number in the
 * warpgroup. */
__device__ __forceinline__ void tm_wgmma(int (&d)[8][4], const unsigned (&a)[4], unsigned b, int more)
{
    asm volatile("{.reg .pred p; .reg .b64 b; setp.ne.s32 p, %37, 0; mov.b64 b, {%36, 16}; "
                 "wgmma.mma_async.sync.aligned.m64n64k32.s32.u8.u8 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, {%32, %33, %34, %35}, b, p;}"
                 : R4(0), R4(1), R4(2), R4(3), R4(4), R4(5), R4(6), R4(7)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b), "r"(more));
}

/* Likewise d += A B, where B's bytes have a sign. */
__device__ __forceinline__ void tm_wgmma_add_signed(int (&d)[8][4], const unsigned (&a)[4], unsigned b)
{
    asm volatile("{.reg .pred p; .reg .b64 b; setp.eq.u32 p, 0, 0; mov.b64 b, {%36, 16}; "
                 "wgmma.mma_async.sync.aligned.m64n64k32.s32.u8.s8 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, {%32, %33, %34, %35}, b, p;}"
                 : R4(0), R4(1), R4(2), R4(3), R4(4), R4(5), R4(6), R4(7)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b));
}
#undef R4

/* What this thread has stored in shared memory is seen by products of threads that it tells afterwards. */
__device__ __forceinline__ void tm_wgmma_publish()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* Before a group of products, and behind it. */
__device__ __forceinline__ void tm_wgmma_begin()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ __forceinline__ void tm_wgmma_end()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/* Waits for the products of all groups but the last ones. */
template <int LAST = 0>
__device__ __forceinline__ void tm_wgmma_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(LAST) : "memory");
}

/* d = 0, here and nowhere later, as it would be set while products are made. */
template <int N>
__device__ __forceinline__ void tm_wgmma_clear(int (&d)[N][4])
{
#pragma unroll
    for (int i = 0; i < 4 * N; i++)
        asm volatile("mov.b32 %0, 0;" : "=r"(d[i / 4][i & 3]));
}

/* No use of d moves up beyond this. */
template <int N>
__device__ __forceinline__ void tm_wgmma_keep(int (&d)[N][4])
{
#pragma unroll
    for (int i = 0; i < 4 * N; i++)
        asm volatile("" : "+r"(d[i / 4][i & 3])::"memory");
}

#endif
