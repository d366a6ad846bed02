// SPDX-License-Identifier: BSD-3-Clause
#include "hydro/near_matrix.hpp"

#include <limits>

#include "core/backend.hpp"
#include "core/memory_check.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/reduce.hpp"
#include "quadrat/parallel/scan.hpp"

namespace quadrat::detail {

namespace {

/// Index: slot.
template <typename T, typename Spheres>
struct count_near_pairs {
  Spheres spheres;
  T cutoff;
  const double* pairs;
  double least;
  double most;
  std::uint32_t* lengths;

  QUADRAT_HD void operator()(std::size_t slot) const {
    std::uint32_t length = 0;
    if (*pairs >= least && *pairs < most) {
      spheres.for_each_neighbor(slot, cutoff, [&](std::uint32_t, const vec<T, 3>&, T) { ++length; });
    }
    lengths[slot] = length;
  }
};

/// Index: slice.
struct widest_near_row {
  const std::uint32_t* lengths;
  std::size_t count;
  std::uint32_t* widths;

  QUADRAT_HD void operator()(std::size_t slice) const {
    constexpr std::size_t rows = near_rows<float>::slice;
    const std::size_t last = (slice + 1) * rows < count ? (slice + 1) * rows : count;
    std::uint32_t width = 0;
    for (std::size_t row = slice * rows; row < last; ++row) width = lengths[row] > width ? lengths[row] : width;
    widths[slice] = width;
  }
};

struct near_row_length {
  const std::uint32_t* lengths;

  QUADRAT_HD double operator()(std::size_t row) const { return static_cast<double>(lengths[row]); }
};

/// Index: slot.
template <typename T, typename Spheres>
struct fill_near_row {
  Spheres spheres;
  near_tensor<T> law;
  const std::uint64_t* offsets;
  near_entry<T>* entries;

  QUADRAT_HD void operator()(std::size_t slot) const {
    constexpr std::size_t slice = near_rows<T>::slice;
    near_entry<T>* entry = entries + offsets[slot / slice] * slice + slot % slice;
    spheres.for_each_neighbor(slot, law.cutoff, [&](std::uint32_t other, const vec<T, 3>& r, T squared_distance) {
      const auto pair = law.at(squared_distance);
      near_entry<T> own{{}, other};
      int k = 0;
      for (int a = 0; a < 3; ++a) {
        const T along = pair.bend * r[a];
        for (int b = a; b < 3; ++b) own.tensor[k++] = along * r[b] + (a == b ? pair.across : T(0));
      }
      *entry = own;
      entry += slice;
    });
  }
};

}  // namespace

template <typename Context, typename T>
template <typename Spheres>
void near_matrix<Context, T>::count(const Context& context, const Spheres& spheres, T cutoff, const guard& when,
                                    std::uint64_t* stored, double* pairs) {
  count_ = spheres.count;
  const std::size_t slices = (count_ + near_rows<T>::slice - 1) / near_rows<T>::slice;
  lengths_.resize_discarding(context, count_);
  widths_.resize_discarding(context, slices);
  offsets_.resize_discarding(context, slices + 1);
  for_each(context, "mobility.count", count_,
           count_near_pairs<T, Spheres>{spheres, cutoff, when.pairs, when.least, when.most, lengths_.data()});
  for_each(context, "mobility.widths", slices, widest_near_row{lengths_.data(), count_, widths_.data()});
  exclusive_scan_with_total(context, widths_.data(), offsets_.data(), slices, scratch_);
  copy_bytes(context, offsets_.data() + slices, stored, sizeof(std::uint64_t));
  reduce_into(context, "mobility.entries", count_, near_row_length{lengths_.data()}, plus_operation{}, 0.0, pairs,
              scratch_);
}

template <typename Context, typename T>
template <typename Spheres>
void near_matrix<Context, T>::fill(const Context& context, const Spheres& spheres, const near_tensor<T>& law,
                                   std::uint64_t stored, std::size_t most_bytes) {
  const double needed = static_cast<double>(stored) * near_rows<T>::slice * sizeof(near_entry<T>);
  const double possible = most_bytes > 0 ? static_cast<double>(most_bytes) : 9e18;
  require(needed <= possible, "the pairs of spheres within the cutoff ", law.cutoff, " need ", needed, " bytes; ",
          most_bytes, " are allowed");
  std::size_t entries = stored * near_rows<T>::slice;
  if (entries * sizeof(near_entry<T>) > entries_.bytes()) {
    require_memory(context.memory(), message("the near part, with the cutoff ", law.cutoff, ","),
                   static_cast<std::size_t>(needed), entries_.bytes(),
                   "fewer spheres, less crowded ones or a smaller cutoff need less");
    // The number of neighbors of moving spheres fluctuates. Spare room avoids an allocation at each new maximum.
    entries += entries / 16;
  }
  entries_.resize_discarding(context, entries);
  self_ = law.self;
  for_each(context, "mobility.fill", count_, fill_near_row<T, Spheres>{spheres, law, offsets_.data(), entries_.data()});
}

template <typename Context, typename T>
near_rows<T> near_matrix<Context, T>::rows() const {
  return {count_, offsets_.data(), lengths_.data(), entries_.data(), self_};
}

template class near_matrix<backend_context, float>;
template class near_matrix<backend_context, double>;
template void near_matrix<backend_context, float>::count(const backend_context&, const placed_spheres<float>&, float,
                                                         const guard&, std::uint64_t*, double*);
template void near_matrix<backend_context, float>::fill(const backend_context&, const placed_spheres<float>&,
                                                        const near_tensor<float>&, std::uint64_t, std::size_t);
template void near_matrix<backend_context, float>::count(const backend_context&, const spheres_among_ghosts<float>&,
                                                         float, const guard&, std::uint64_t*, double*);
template void near_matrix<backend_context, float>::fill(const backend_context&, const spheres_among_ghosts<float>&,
                                                        const near_tensor<float>&, std::uint64_t, std::size_t);
template void near_matrix<backend_context, double>::count(const backend_context&, const placed_spheres<double>&, double,
                                                          const guard&, std::uint64_t*, double*);
template void near_matrix<backend_context, double>::fill(const backend_context&, const placed_spheres<double>&,
                                                         const near_tensor<double>&, std::uint64_t, std::size_t);
template void near_matrix<backend_context, double>::count(const backend_context&, const spheres_among_ghosts<double>&,
                                                          double, const guard&, std::uint64_t*, double*);
template void near_matrix<backend_context, double>::fill(const backend_context&, const spheres_among_ghosts<double>&,
                                                         const near_tensor<double>&, std::uint64_t, std::size_t);

}  // namespace quadrat::detail
