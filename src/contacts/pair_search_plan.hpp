// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstring>
#include <type_traits>

#include "contacts/bins/choice.hpp"
#include "contacts/levels/plan.hpp"
#include "contacts/pair_search.hpp"
#include "quadrat/parallel/reduce.hpp"

namespace quadrat::detail {

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

template <typename Context>
[[nodiscard]] constexpr touched_bin_weights weights_of(pair_way way) {
  if (way != pair_way::bins) return tight_grid_weights;
  return std::is_same_v<Context, cuda_context> ? nine_stages_weights_on_cuda : nine_stages_weights_on_cpu;
}

template <typename Context, typename T>
pair_search<Context, T>::pair_search(const Context& context) : context_(context), control_(context, search_words) {}

template <typename Context, typename T>
void pair_search<Context, T>::begin(std::size_t count) {
  count_ = count;
  placed_.resize_discarding(context_, count);
  fill_bytes(context_, control_.data(), 0, control_.bytes());
  fill_bytes(context_, control_.data() + search_fault_word, 0xff, sizeof(std::uint64_t));
}

template <typename Context, typename T>
fault_report pair_search<Context, T>::measure() {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  static_assert(sizeof(center_bounds<T>) <= (search_sizes_word - search_bounds_word) * sizeof(std::uint64_t));
  const half_extent_of<T> half_extent{placed_.data()};
  const count_sizes<T, half_extent_of<T>> body{half_extent, count_, control_.data() + search_sizes_word,
                                               control_.data() + search_largest_word};
  for_each(context_, "contacts.sizes", (count_ + count_sizes_share - 1) / count_sizes_share, body);
  auto* bounds = reinterpret_cast<center_bounds<T>*>(control_.data() + search_bounds_word);
  const center_bounds<T> none{vec<T, 3>::filled(infinity), vec<T, 3>::filled(-infinity)};
  reduce_into(context_, "contacts.bounds", count_, bounds_of_body<T>{placed_.data()}, join_bounds<T>{}, none, bounds,
              scratch_);
  const std::uint64_t* words = mirror_.read(context_, control_.data(), search_words);
  std::memcpy(&bounds_, words + search_bounds_word, sizeof(bounds_));
  sizes_ = size_histogram_of<T>(words + search_sizes_word, words[search_largest_word]);
  const std::uint64_t fault = words[search_fault_word];
  if (fault == ~std::uint64_t{0}) return {fault_kind::none, 0, 0};
  return {static_cast<fault_kind>(fault & 0xff), fault >> 8, 0};
}

template <typename Context, typename T>
void pair_search<Context, T>::choose_method(const std::string& asked) {
  if (!asked.empty()) {
    method_ = asked;
    choice_ = "asked for";
  } else if (count_ <= brute_force_most_bodies) {
    method_ = contact_search_methods::brute_force::name;
    choice_ = message("at most ", brute_force_most_bodies, " bodies");
  } else {
    method_ = contact_search_methods::levels::name;
    choice_ = "bodies of all sizes in one cell each";
  }
  contact_method_list::with("contact method", method_, [&](auto named) {
    method_ = decltype(named)::name;
    way_ = decltype(named)::way;
  });
}

template <typename Context, typename T>
void pair_search<Context, T>::plan(const pair_request<T>& request) {
  choose_method(request.method);
  reason_ = choice_;
  balance_bins_ = request.balance_bins;
  bin_size_ = T(0);
  domain_ = request.domain.value_or(box<T, 3>{});
  rows_ = count_;
  if (count_ == 0) return;
  const box<T, 3>* given = request.domain.has_value() ? &*request.domain : nullptr;
  domain_ = box_for_bins(given, bounds_.lower, bounds_.upper, sizes_);
  if (way_ == pair_way::brute_force) {
    reason_ = choice_ + "; no bins";
  } else if (method_ == contact_search_methods::levels::name) {
    take(plan_levels(domain_, sizes_, request.bin_size));
  } else {
    const bin_choice<T> choice =
        way_ == pair_way::levels ? choose_loose_bins(domain_, sizes_, request.bin_size)
                                 : choose_touched_bins(domain_, sizes_, request.bin_size, weights_of<Context>(way_));
    bins_ = choice.space;
    levels_ = {};
    levels_.count = 1;
    levels_.space[0] = choice.space;
    levels_.widest[0] = sizes_.largest;
    levels_.first_cell[1] = static_cast<cell_id>(choice.space.size());
    bin_size_ = choice.edge;
    reason_ = choice_ + "; " + choice.reason;
  }
}

template <typename Context, typename T>
void pair_search<Context, T>::take(const level_plan<T>& plan) {
  levels_ = plan.grids;
  bin_size_ = plan.finest_edge;
  reason_ = choice_ + "; " + plan.reason;
}

template <typename Context, typename T>
std::size_t pair_search<Context, T>::bytes() const {
  std::size_t sum = placed_.bytes() + control_.bytes() + scratch_.bytes() + buckets_.bytes() + slots_.bytes() +
                    bins_touched_T_.bytes() + offsets_of_T_.bytes() + first_of_bin_.bytes() + masks_.bytes();
  for (int copy = 0; copy < 2; ++copy) {
    sum += bin_of_B_[copy].bytes() + body_of_B_[copy].bytes() + bodies_of_C_[copy].bytes() + bin_of_C_[copy].bytes();
  }
  return sum;
}

}  // namespace quadrat::detail
