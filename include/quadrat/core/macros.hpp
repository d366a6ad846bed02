// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Marks a function that runs on the host and, where nvcc compiles it, on the device.
#if defined(__CUDACC__)
#define QUADRAT_HD __host__ __device__
#define QUADRAT_DEVICE __device__
/// QUADRAT_HD for what is long enough that kernels call it, rather than each holding a copy.
#define QUADRAT_HD_NOINLINE __host__ __device__ __noinline__
/// Before a template that is QUADRAT_HD and calls what it is given, which may be a function of the host only.
#define QUADRAT_CALLS_ANY _Pragma("nv_exec_check_disable")
#else
#define QUADRAT_HD
#define QUADRAT_DEVICE
#define QUADRAT_HD_NOINLINE
#define QUADRAT_CALLS_ANY
#endif

/// Before a loop with constant bounds over small arrays, which kernels must keep in registers. Not in nvcc's pass for
/// the host, whose compiler does not know the pragma.
#if defined(__CUDA_ARCH__)
#define QUADRAT_UNROLL _Pragma("unroll")
#else
#define QUADRAT_UNROLL
#endif
