// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cub/device/device_radix_sort.cuh>
#include <cub/version.cuh>

#include <cstddef>
#include <cstdint>

/// The only file that uses internals of CUB. CUB's public radix sort has digits of 8 bits, and before version 3.5 no
/// public interface changes that. With digits of 9 bits, keys of 17 and 18 bits (as for 64^3 cells) need two sweeps
/// over memory instead of three. Version 3.3 changed these internals, 3.5 deprecated them, and 2.8 lacks some. So wide
/// digits are used with versions 3.0 to 3.2 only; others use the public sort, which gives the same result.
#if !defined(QUADRAT_WIDE_DIGITS)
#define QUADRAT_WIDE_DIGITS (CUB_VERSION >= 300000 && CUB_VERSION < 300300)
#endif

namespace quadrat::detail {

/// Digits of 9 bits.
inline constexpr int wide_digit_bits = 9;

#if QUADRAT_WIDE_DIGITS
/// CUB's tuning for this chip with wide digits. 512 threads with 16 pairs each were the fastest on an H200: 0.044 ms
/// for 2^20 pairs and 0.27 ms for 2^24, instead of 0.054 and 0.36 ms.
struct wide_digits {
  static constexpr int bits = wide_digit_bits;
  using tuned = cub::detail::radix::policy_hub<std::uint32_t, std::uint32_t, std::uint32_t>;

  struct MaxPolicy : tuned::Policy900 {  // NOLINT(readability-identifier-naming): CUB's names
    using ActivePolicy = MaxPolicy;
    static constexpr bool ONESWEEP = true;
    static constexpr int ONESWEEP_RADIX_BITS = bits;
    using HistogramPolicy = cub::AgentRadixSortHistogramPolicy<128, 16, 1, std::uint32_t, bits>;
    using ExclusiveSumPolicy = cub::AgentRadixSortExclusiveSumPolicy<256, bits>;
    using OnesweepPolicy =
        cub::AgentRadixSortOnesweepPolicy<512, 16, std::uint32_t, 1, cub::RADIX_RANK_MATCH_EARLY_COUNTS_ANY,
                                          cub::BLOCK_SCAN_RAKING_MEMOIZE, cub::RADIX_SORT_STORE_DIRECT, bits>;

    template <typename Dispatch>
    static cudaError_t Invoke(int /*ptx_version*/, Dispatch& dispatch) {
      return dispatch.template Invoke<MaxPolicy>();
    }
  };
};
#endif

/// Whether wide digits save a sweep.
[[nodiscard]] constexpr bool wide_digits_pay(int key_bits) {
  return (key_bits + wide_digit_bits - 1) / wide_digit_bits < (key_bits + 7) / 8;
}

/// cub::DeviceRadixSort::SortPairs, with wide digits where this version of CUB allows them.
inline cudaError_t sort_by_wide_digits(void* temporary, std::size_t& bytes, cub::DoubleBuffer<std::uint32_t>& keys,
                                       cub::DoubleBuffer<std::uint32_t>& values, std::uint32_t count, int key_bits,
                                       cudaStream_t stream) {
#if QUADRAT_WIDE_DIGITS
  using dispatch = cub::DispatchRadixSort<cub::SortOrder::Ascending, std::uint32_t, std::uint32_t, std::uint32_t,
                                          cub::detail::identity_decomposer_t, wide_digits>;
  return dispatch::Dispatch(temporary, bytes, keys, values, count, 0, key_bits, true, stream);
#else
  return cub::DeviceRadixSort::SortPairs(temporary, bytes, keys, values, count, 0, key_bits, stream);
#endif
}

}  // namespace quadrat::detail
