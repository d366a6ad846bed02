// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "cells/counting_build.hpp"
#include "contacts/pair_search.hpp"
#include "quadrat/parallel/scan.hpp"
#include "quadrat/parallel/sort.hpp"

namespace quadrat::detail {

/// Index: slot.
template <typename T>
struct gather_placed {
  const placed_body<T>* bodies;
  const particle_id* elements;
  placed_body<T>* slots;

  QUADRAT_HD void operator()(std::size_t slot) const { slots[slot] = bodies[elements[slot]]; }
};

/// Stage 1 of parallel-binning-collision: T, the bins that each body touches (slide 17). Index: body.
template <typename T>
struct count_touched_bins {
  grid<T, 3> space;
  const placed_body<T>* bodies;
  std::uint32_t* bins_touched_T;

  QUADRAT_HD void operator()(std::size_t i) const {
    const placed_body<T> body = bodies[i];
    std::uint32_t product = 1;
    for (int axis = 0; axis < 3; ++axis) {
      product *= static_cast<std::uint32_t>(distinct(space, touched_along(space, body, axis), axis));
    }
    bins_touched_T[i] = product;
  }
};

/// Stage 3: B, pairs of a bin and a body that touches it (slide 19). Index: body.
template <typename T>
struct write_touched_bins {
  grid<T, 3> space;
  const placed_body<T>* bodies;
  const std::uint64_t* offsets_of_T;
  cell_id* bin_of_B;
  particle_id* body_of_B;

  QUADRAT_HD void operator()(std::size_t i) const {
    const placed_body<T> body = bodies[i];
    index_range touched[3];
    for (int axis = 0; axis < 3; ++axis) {
      touched[axis] = touched_along(space, body, axis);
      touched[axis].last = touched[axis].first + distinct(space, touched[axis], axis) - 1;
    }
    std::uint64_t at = offsets_of_T[i];
    for (int z = touched[2].first; z <= touched[2].last; ++z) {
      for (int y = touched[1].first; y <= touched[1].last; ++y) {
        const auto plane = static_cast<cell_id>(space.wrapped(z, 2)) * static_cast<cell_id>(space.cells[1]);
        const cell_id row = (plane + static_cast<cell_id>(space.wrapped(y, 1))) * static_cast<cell_id>(space.cells[0]);
        for (int x = touched[0].first; x <= touched[0].last; ++x, ++at) {
          bin_of_B[at] = row + static_cast<cell_id>(space.wrapped(x, 0));
          body_of_B[at] = static_cast<particle_id>(i);
        }
      }
    }
  }
};

/// Stage 5, first half: where each bin begins in B. The paper goes through B once for all bins; here every entry looks
/// whether it is the first or the last of its bin. Index: entry of B.
struct find_bins {
  const cell_id* bin_of_B;
  std::size_t entries;
  std::uint32_t* first_of_bin;
  std::uint32_t* end_of_bin;  ///< zero at first

  QUADRAT_HD void operator()(std::size_t at) const {
    const cell_id bin = bin_of_B[at];
    if (at == 0 || bin_of_B[at - 1] != bin) first_of_bin[bin] = static_cast<std::uint32_t>(at);
    if (at + 1 == entries || bin_of_B[at + 1] != bin) end_of_bin[bin] = static_cast<std::uint32_t>(at + 1);
  }
};

/// Stage 5, second half: C, bodies per bin and the bin (slide 21); bins that are empty as well. Index: bin.
struct count_bodies {
  const std::uint32_t* first_of_bin;
  std::uint32_t* bodies_of_C;  ///< where each bin ends; becomes how many bodies it has
  cell_id* bin_of_C;

  QUADRAT_HD void operator()(std::size_t bin) const {
    const std::uint32_t end = bodies_of_C[bin];
    bodies_of_C[bin] = end == 0 ? 0 : end - first_of_bin[bin];
    bin_of_C[bin] = static_cast<cell_id>(bin);
  }
};

template <typename Context, typename T>
void pair_search<Context, T>::insert() {
  if (count_ == 0 || way_ == pair_way::brute_force) return;
  if (way_ == pair_way::levels) return insert_in_levels();
  find_touched_bins();
  sort_touched_bins();
  if (way_ == pair_way::bins) {
    count_bodies_of_bins();
    return;
  }
  masks_.resize_discarding(context_, entries_M_);
  const make_tight_mask<T> body{bins_, placed_.data(), bin_of_B_[current_B_].data(), body_of_B_[current_B_].data(),
                                masks_.data()};
  for_each(context_, "contacts.masks", entries_M_, body);
  rows_ = entries_M_;
}

template <typename Context, typename T>
void pair_search<Context, T>::insert_in_levels() {
  buckets_.build(context_, count_, levels_.first_cell[levels_.count], level_key<T>{placed_.data(), levels_}, faults());
  slots_.resize_discarding(context_, count_);
  const gather_placed<T> body{placed_.data(), buckets_.view().elements, slots_.data()};
  for_each(context_, "contacts.gather", count_, body);
}

/// Stages 1 and 2, and M, which decides how much memory B takes.
template <typename Context, typename T>
void pair_search<Context, T>::find_touched_bins() {
  bins_touched_T_.resize_discarding(context_, count_);
  offsets_of_T_.resize_discarding(context_, count_ + 1);
  for_each(context_, "contacts.bins.T", count_, count_touched_bins<T>{bins_, placed_.data(), bins_touched_T_.data()});
  exclusive_scan_with_total(context_, bins_touched_T_.data(), offsets_of_T_.data(), count_, scratch_);
  entries_M_ = *mirror_.read(context_, offsets_of_T_.data() + count_, 1);
  // Each body touches at most one bin more along an axis than its length says, so that the cube of the edge counts.
  const double larger = 2 * std::cbrt(static_cast<double>(entries_M_) / static_cast<double>(max_count));
  require(entries_M_ <= max_count, "with a bin size of ", bin_size_, " bodies touch M = ", entries_M_,
          " bins in total; at most ", max_count, " are possible: a bin size of ",
          static_cast<T>(larger * static_cast<double>(bin_size_)), " would do");
}

/// Stages 3 and 4.
template <typename Context, typename T>
void pair_search<Context, T>::sort_touched_bins() {
  sort_buffers<std::uint32_t> buffers{};
  for (int copy = 0; copy < 2; ++copy) {
    bin_of_B_[copy].resize_discarding(context_, entries_M_);
    body_of_B_[copy].resize_discarding(context_, entries_M_);
    buffers.keys[copy] = bin_of_B_[copy].data();
    buffers.values[copy] = body_of_B_[copy].data();
  }
  for_each(context_, "contacts.bins.B", count_,
           write_touched_bins<T>{bins_, placed_.data(), offsets_of_T_.data(), buffers.keys[0], buffers.values[0]});
  current_B_ = sort_pairs(context_, buffers, entries_M_, key_bits_for(bins_.size()), scratch_);
}

/// Stages 5 and 6.
template <typename Context, typename T>
void pair_search<Context, T>::count_bodies_of_bins() {
  const std::size_t bins = bins_.size();
  sort_buffers<std::uint32_t> buffers{};
  for (int copy = 0; copy < 2; ++copy) {
    bodies_of_C_[copy].resize_discarding(context_, bins);
    bin_of_C_[copy].resize_discarding(context_, bins);
    buffers.keys[copy] = bodies_of_C_[copy].data();
    buffers.values[copy] = bin_of_C_[copy].data();
  }
  first_of_bin_.resize_discarding(context_, bins);
  fill_bytes(context_, buffers.keys[0], 0, bins * sizeof(std::uint32_t));
  for_each(context_, "contacts.bins.C", entries_M_,
           find_bins{bin_of_B_[current_B_].data(), entries_M_, first_of_bin_.data(), buffers.keys[0]});
  for_each(context_, "contacts.bins.C", bins, count_bodies{first_of_bin_.data(), buffers.keys[0], buffers.values[0]});
  current_C_ = 0;
  if (balance_bins_) current_C_ = sort_pairs(context_, buffers, bins, key_bits_for(count_ + 1), scratch_);
  rows_ = bins;
}

template <typename Context, typename T>
tight_search<T> pair_search<Context, T>::tight() const {
  unsigned open_axes = 0;
  for (int axis = 0; axis < 3; ++axis) open_axes |= domain_.periodic[axis] ? 0u : 1u << axis;
  return {
      bins_,     placed_.data(), bin_of_B_[current_B_].data(), body_of_B_[current_B_].data(), masks_.data(), entries_M_,
      open_axes, open_axes != 7u};
}

template <typename Context, typename T>
bins_search<T> pair_search<Context, T>::bins() const {
  return {bins_,
          placed_.data(),
          body_of_B_[current_B_].data(),
          first_of_bin_.data(),
          bodies_of_C_[current_C_].data(),
          bin_of_C_[current_C_].data(),
          bins_.size()};
}

}  // namespace quadrat::detail
