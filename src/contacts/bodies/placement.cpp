// SPDX-License-Identifier: BSD-3-Clause
#include "contacts/bodies/placement.hpp"

#include <cstring>
#include <limits>

#include "core/backend.hpp"
#include "quadrat/parallel/reduce.hpp"

namespace quadrat::detail {

namespace {

template <typename T>
struct bounds_of_body {
  const placed_body<T>* placed;

  QUADRAT_HD center_bounds<T> operator()(std::size_t i) const { return {placed[i].center, placed[i].center}; }
};

template <typename T>
struct join_bounds {
  QUADRAT_HD center_bounds<T> operator()(center_bounds<T> a, const center_bounds<T>& b) const {
    for (int axis = 0; axis < 3; ++axis) {
      a.lower[axis] = minimum_operation{}(a.lower[axis], b.lower[axis]);
      a.upper[axis] = maximum_operation{}(a.upper[axis], b.upper[axis]);
    }
    return a;
  }
};

template <typename T>
struct half_extent_of {
  const placed_body<T>* placed;

  QUADRAT_HD T operator()(std::size_t i) const { return placed[i].widest(); }
};

}  // namespace

template <typename Context, typename T>
fault_report body_placement<Context, T>::measure() {
  using control = search_control<Context>;
  constexpr T infinity = std::numeric_limits<T>::infinity();
  static_assert(sizeof(center_bounds<T>) <= (control::sizes_word - control::bounds_word) * sizeof(std::uint64_t));
  std::uint64_t* const largest = control_.data(control::largest_word);
  std::uint64_t* const counts = control_.data(control::sizes_word);
  fill_bytes(context_, largest, 0, (control::words - control::largest_word) * sizeof(std::uint64_t));
  const half_extent_of<T> half_extent{placed_.data()};
  for_each(context_, "contacts.sizes", (count_ + count_sizes_share - 1) / count_sizes_share,
           count_sizes<T, half_extent_of<T>>{half_extent, count_, counts, largest});
  auto* bounds = reinterpret_cast<center_bounds<T>*>(control_.data(control::bounds_word));
  const center_bounds<T> none{vec<T, 3>::filled(infinity), vec<T, 3>::filled(-infinity)};
  reduce_into(context_, "contacts.bounds", count_, bounds_of_body<T>{placed_.data()}, join_bounds<T>{}, none, bounds,
              scratch_);
  const std::uint64_t* read = control_.read(control::words);
  std::memcpy(&bounds_, read + control::bounds_word, sizeof(bounds_));
  sizes_ = size_histogram_of<T>(read + control::sizes_word, read[control::largest_word]);
  const std::uint64_t fault = read[control::fault_word];
  if (!control_.failed()) return {fault_kind::none, 0, 0};
  return {static_cast<fault_kind>(fault & 0xff), fault >> 8, 0};
}

template class body_placement<backend_context, float>;
template class body_placement<backend_context, double>;

}  // namespace quadrat::detail
