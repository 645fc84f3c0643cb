/* SPDX-License-Identifier: MIT */
/* Included before all sources of a wheel: glibc 2.35 has a second hypot, of the same values, which would be the only reason
 * why a wheel made with a later one does not run with 2.34, which RHEL 9 and its kin have. */
#if defined __x86_64__ && defined __linux__
__asm__(".symver hypot, hypot@GLIBC_2.2.5");
__asm__(".symver hypotf, hypotf@GLIBC_2.2.5");
#endif
