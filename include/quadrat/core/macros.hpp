// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#if __cplusplus <= 201703L
#error "Quadrat needs C++20: compile with -std=c++20, as CMake's target quadrat::quadrat does"
#endif

/// Marks a function that runs on the host and, where nvcc compiles it, on the device.
#if defined(__CUDACC__)
#define QUADRAT_HD __host__ __device__
#define QUADRAT_DEVICE __device__
/// QUADRAT_HD for long functions, which kernels call rather than inline.
#define QUADRAT_HD_NOINLINE __host__ __device__ __noinline__
/// Goes before a QUADRAT_HD template that calls a function object, which may be host-only.
#define QUADRAT_CALLS_ANY _Pragma("nv_exec_check_disable")
#else
#define QUADRAT_HD
#define QUADRAT_DEVICE
#define QUADRAT_HD_NOINLINE
#define QUADRAT_CALLS_ANY
#endif

/// Goes before a loop with constant bounds over small arrays that kernels must keep in registers. Empty in nvcc's host
/// pass, because the host compiler does not know the pragma.
#if defined(__CUDA_ARCH__)
#define QUADRAT_UNROLL _Pragma("unroll")
#else
#define QUADRAT_UNROLL
#endif
