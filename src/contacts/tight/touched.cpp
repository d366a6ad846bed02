// SPDX-License-Identifier: BSD-3-Clause
#include "contacts/tight/touched.hpp"

#include <cmath>

#include "contacts/candidate_pairs.hpp"
#include "core/backend.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/scan.hpp"
#include "quadrat/parallel/sort.hpp"

namespace quadrat::detail {

namespace {

/// Stage 1 of parallel-binning-collision: T, the number of bins that each body touches (slide 17). Index: body.
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
  const std::uint64_t* entries_M;
  cell_id* bin_of_B;
  particle_id* body_of_B;

  QUADRAT_HD void operator()(std::size_t i) const {
    if (*entries_M == 0) return;  // the room may be too small
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

}  // namespace

template <typename Context, typename T>
void touched_bins<Context, T>::find(const Context& context, const placed_bodies<Context, T>& bodies,
                                    const grid<T, 3>& space, T edge) {
  count(context, bodies, space, edge);
  sort(context, bodies, space);
}

/// Stages 1 and 2: T, its scan, and M.
template <typename Context, typename T>
void touched_bins<Context, T>::count(const Context& context, const placed_bodies<Context, T>& bodies,
                                     const grid<T, 3>& space, T edge) {
  bins_touched_T_.resize_discarding(context, bodies.count);
  offsets_of_T_.resize_discarding(context, bodies.count + 1);
  for_each(context, "contacts.bins.T", bodies.count,
           count_touched_bins<T>{space, bodies.bodies, bins_touched_T_.data()});
  exclusive_scan_with_total(context, bins_touched_T_.data(), offsets_of_T_.data(), bodies.count, scratch_);
  entries_M_ = bodies.control->settle(
      search_control<Context>::bins_word, offsets_of_T_.data() + bodies.count, [&] { return room(); },
      [&](std::uint64_t entries) { grow(context, entries, edge); });
}

template <typename Context, typename T>
void touched_bins<Context, T>::grow(const Context& context, std::uint64_t entries, T edge) {
  // The number of entries falls with the cube of the edge, plus one more bin per axis; hence the factor 2.
  const double larger = 2 * std::cbrt(static_cast<double>(entries) / static_cast<double>(max_count));
  require(entries <= max_count, "with a bin size of ", edge, " bodies touch M = ", entries, " bins in total; at most ",
          max_count, " are possible: a bin size of ", static_cast<T>(larger * static_cast<double>(edge)), " would do");
  const std::uint64_t room = roomy(entries);
  for (int copy = 0; copy < 2; ++copy) {
    bin_of_B_[copy].resize_discarding(context, room);
    body_of_B_[copy].resize_discarding(context, room);
  }
}

/// Stages 3 and 4.
template <typename Context, typename T>
void touched_bins<Context, T>::sort(const Context& context, const placed_bodies<Context, T>& bodies,
                                    const grid<T, 3>& space) {
  sort_buffers<std::uint32_t> buffers{};
  for (int copy = 0; copy < 2; ++copy) {
    buffers.keys[copy] = bin_of_B_[copy].data();
    buffers.values[copy] = body_of_B_[copy].data();
  }
  fill_bytes(context, buffers.keys[0], 0xff, entries_M_.most * sizeof(cell_id));
  for_each(context, "contacts.bins.B", bodies.count,
           write_touched_bins<T>{space, bodies.bodies, offsets_of_T_.data(), entries_M_.value, buffers.keys[0],
                                 buffers.values[0]});
  current_ = sort_pairs(context, buffers, entries_M_.most, key_bits_for(space.size()), scratch_);
}

template <typename Context, typename T>
std::size_t touched_bins<Context, T>::bytes() const {
  std::size_t sum = bins_touched_T_.bytes() + offsets_of_T_.bytes() + scratch_.bytes();
  for (int copy = 0; copy < 2; ++copy) sum += bin_of_B_[copy].bytes() + body_of_B_[copy].bytes();
  return sum;
}

template class touched_bins<backend_context, float>;
template class touched_bins<backend_context, double>;

}  // namespace quadrat::detail
