// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "ewald/splitting.hpp"

/// The short-range sum of one charge by vector instructions: loops compiled once for each instruction set.
namespace quadrat::detail {

/// Numbers behind the last slot that may be read.
inline constexpr std::size_t pair_lanes_beyond = 16;

/// The charges by slot, component by component.
template <typename T>
struct charge_lanes {
  const T* position[3];
  const T* charge;
};

/// Slots that are near one image of the charge.
template <typename T>
struct candidate_range {
  std::uint32_t first;
  std::uint32_t last;
  T from[3];
};

/// A pair that may be a charge with itself, scaled, or at distance 0.
struct close_candidate {
  std::uint32_t range;
  std::uint32_t slot;
};

template <typename T>
struct pair_lanes_task {
  static constexpr std::size_t most_close = 64;

  const split_polynomial<T>* split;
  bool coulomb;
  T squared_close;  ///< closer pairs are listed instead of summed
  charge_lanes<T> all;
  const candidate_range<T>* ranges;
  std::uint32_t count;
};

template <typename T>
struct pair_lanes_result {
  T potential;
  T field[3];
  T virial[6];              ///< as in add_short_range::add_virial
  std::size_t close_count;  ///< may exceed most_close; then only most_close are listed
  close_candidate close[pair_lanes_task<T>::most_close];
};

template <typename T>
using pair_lanes_function = void (*)(const pair_lanes_task<T>& task, pair_lanes_result<T>& result);

/// nullptr if this CPU does not have the instructions. Plain C++ always exists.
[[nodiscard]] pair_lanes_function<float> avx512_pair_lanes(float, bool virials);
[[nodiscard]] pair_lanes_function<double> avx512_pair_lanes(double, bool virials);
[[nodiscard]] pair_lanes_function<float> avx2_pair_lanes(float, bool virials);
[[nodiscard]] pair_lanes_function<double> avx2_pair_lanes(double, bool virials);
[[nodiscard]] pair_lanes_function<float> plain_pair_lanes(float, bool virials);
[[nodiscard]] pair_lanes_function<double> plain_pair_lanes(double, bool virials);

}  // namespace quadrat::detail
