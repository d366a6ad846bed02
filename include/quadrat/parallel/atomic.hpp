// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <type_traits>

#include "quadrat/core/macros.hpp"

/// Relaxed atomic operations on words in memory, with the same names on the host and on the device. Each returns the
/// old value. Used because std::atomic_ref is host-only under nvcc, and cuda::atomic_ref may use generic addressing.

namespace quadrat {

namespace detail {
/// CUDA's atomics take `long long`, not std::int64_t.
template <typename T>
using device_word = std::conditional_t<std::is_same_v<T, std::uint64_t>, unsigned long long,
                                       std::conditional_t<std::is_same_v<T, std::int64_t>, long long, T>>;
}  // namespace detail

template <typename T>
QUADRAT_HD inline T atomic_add(T* target, std::type_identity_t<T> value) {
#if defined(__CUDA_ARCH__)
  // Signed 64-bit words wrap around as unsigned ones do, which CUDA can add.
  using word = std::conditional_t<std::is_same_v<T, std::int64_t>, unsigned long long, detail::device_word<T>>;
  return static_cast<T>(::atomicAdd(reinterpret_cast<word*>(target), static_cast<word>(value)));
#else
  if constexpr (std::is_integral_v<T>) {
    return __atomic_fetch_add(target, value, __ATOMIC_RELAXED);
  } else {
    T old;
    __atomic_load(target, &old, __ATOMIC_RELAXED);
    T sum = old + value;
    while (!__atomic_compare_exchange(target, &old, &sum, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) sum = old + value;
    return old;
  }
#endif
}

template <typename T>
QUADRAT_HD inline T atomic_exchange(T* target, std::type_identity_t<T> value) {
#if defined(__CUDA_ARCH__)
  using word = detail::device_word<T>;
  return static_cast<T>(::atomicExch(reinterpret_cast<word*>(target), static_cast<word>(value)));
#else
  return __atomic_exchange_n(target, value, __ATOMIC_RELAXED);
#endif
}

/// Writes `value` if the target holds `expected`. T: std::uint32_t or std::uint64_t.
template <typename T>
QUADRAT_HD inline T atomic_compare_exchange(T* target, std::type_identity_t<T> expected,
                                            std::type_identity_t<T> value) {
#if defined(__CUDA_ARCH__)
  using word = detail::device_word<T>;
  return static_cast<T>(
      ::atomicCAS(reinterpret_cast<word*>(target), static_cast<word>(expected), static_cast<word>(value)));
#else
  __atomic_compare_exchange_n(target, &expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return expected;
#endif
}

template <typename T>
QUADRAT_HD inline T atomic_min(T* target, std::type_identity_t<T> value) {
#if defined(__CUDA_ARCH__)
  using word = detail::device_word<T>;
  return static_cast<T>(::atomicMin(reinterpret_cast<word*>(target), static_cast<word>(value)));
#else
  T old = __atomic_load_n(target, __ATOMIC_RELAXED);
  while (value < old && !__atomic_compare_exchange_n(target, &old, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  return old;
#endif
}

template <typename T>
QUADRAT_HD inline T atomic_max(T* target, std::type_identity_t<T> value) {
#if defined(__CUDA_ARCH__)
  using word = detail::device_word<T>;
  return static_cast<T>(::atomicMax(reinterpret_cast<word*>(target), static_cast<word>(value)));
#else
  T old = __atomic_load_n(target, __ATOMIC_RELAXED);
  while (old < value && !__atomic_compare_exchange_n(target, &old, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  return old;
#endif
}

}  // namespace quadrat
