// SPDX-License-Identifier: BSD-3-Clause
#include "contacts/sweep_and_prune/engine.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "contacts/bodies/gather.hpp"
#include "contacts/row_engine.hpp"
#include "core/backend.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/scan.hpp"
#include "quadrat/parallel/sort.hpp"

namespace quadrat::detail {

namespace {

/// Size of the sample whose pairs determine the axis.
constexpr std::size_t sweep_sample = 256;
/// Enough rows to keep a device busy even with few bodies.
template <typename Context>
constexpr std::uint64_t rows_of_few_bodies = std::is_same_v<Context, cuda_context> ? 1 << 18 : 1 << 10;

/// Index: sample. Takes a body from a pseudorandom place in each of `size` equal runs: a fixed stride could match a
/// pattern in the caller's order.
template <typename T>
struct take_sample {
  const placed_body<T>* bodies;
  std::uint64_t count;
  std::uint64_t size;
  placed_body<T>* sample;

  QUADRAT_HD void operator()(std::size_t k) const {
    const std::uint64_t scattered = (k + 1) * 0x9e3779b97f4a7c15u >> 32;
    sample[k] = bodies[size == count ? k : (k * count + scattered % count) / size];
  }
};

/// Maps numbers to unsigned integers in the same order.
template <typename T, typename Key>
[[nodiscard]] QUADRAT_HD Key key_of_number(T number) {
  constexpr Key sign = Key{1} << (8 * sizeof(Key) - 1);
  const Key bits = __builtin_bit_cast(Key, number);
  return (bits & sign) != 0 ? ~bits : bits | sign;
}
template <typename T, typename Key>
[[nodiscard]] QUADRAT_HD T number_of_key(Key key) {
  constexpr Key sign = Key{1} << (8 * sizeof(Key) - 1);
  return __builtin_bit_cast(T, (key & sign) != 0 ? key ^ sign : ~key);
}

/// Bodies along the axis. The reach from a center allows for any rounding, as in search_margin.
template <typename T>
struct sweep_line {
  int axis;
  T period;  ///< 0 along an open axis
  T slack;   ///< rounding of positions around a periodic face

  [[nodiscard]] QUADRAT_HD T reach(const placed_body<T>& body) const { return widened(body.half[axis]) + slack; }
};

template <typename T>
[[nodiscard]] sweep_line<T> line_along(const box<T, 3>& domain, int axis) {
  if (!domain.periodic[axis]) return {axis, T(0), T(0)};
  const T scale = std::fmax(std::fabs(domain.lower[axis]), std::fabs(domain.upper(axis)));
  return {axis, domain.length[axis], 8 * std::numeric_limits<T>::epsilon() * (scale + domain.length[axis])};
}

/// Index: body. Writes where it begins.
template <typename T, typename Key>
struct write_sweep_keys {
  sweep_line<T> line;
  const placed_body<T>* bodies;
  Key* keys;

  QUADRAT_HD void operator()(std::size_t i) const {
    const placed_body<T> body = bodies[i];
    keys[i] = key_of_number<T, Key>(body.center[line.axis] - line.reach(body));
  }
};

/// Index: slot. Finds the end of its walk. Where bodies begin is read from the sorted keys: computed again, it might
/// round differently.
template <typename T, typename Key>
struct find_sweep_ends {
  sweep_line<T> line;
  const placed_body<T>* slots;
  const Key* keys;
  std::uint32_t count;
  std::uint32_t* ends;
  std::uint32_t* steps;

  QUADRAT_HD void operator()(std::size_t at) const {
    const auto slot = static_cast<std::uint32_t>(at);
    const placed_body<T> body = slots[slot];
    const T end = body.center[line.axis] + line.reach(body);
    ends[slot] = first_beyond(end, T(0), slot + 1, count);
    const std::uint32_t images = line.period > T(0) ? first_beyond(end, line.period, 0, slot) : 0;
    steps[slot] = ends[slot] - slot + images;
  }

 private:
  /// The first slot of [first, last) whose beginning, moved by `offset`, is after `end`.
  [[nodiscard]] QUADRAT_HD std::uint32_t first_beyond(T end, T offset, std::uint32_t first, std::uint32_t last) const {
    while (first < last) {
      const std::uint32_t middle = first + (last - first) / 2;
      if (number_of_key<T>(keys[middle]) + offset <= end) {
        first = middle + 1;
      } else {
        last = middle;
      }
    }
    return first;
  }
};

/// Statistics of a sample's pairs along one axis.
struct axis_of_sample {
  std::size_t overlaps = 0;
  double apart = 0;

  [[nodiscard]] bool better_than(const axis_of_sample& other) const {
    return overlaps != other.overlaps ? overlaps < other.overlaps : apart > other.apart;
  }
};

template <typename T>
[[nodiscard]] std::array<axis_of_sample, 3> look_along_axes(const box<T, 3>& domain,
                                                            const std::vector<placed_body<T>>& sample) {
  std::array<axis_of_sample, 3> axes{};
  for (std::size_t j = 0; j < sample.size(); ++j) {
    for (std::size_t k = 0; k < j; ++k) {
      const vec<T, 3> offset = domain.separation(sample[j].center, sample[k].center);
      for (int axis = 0; axis < 3; ++axis) {
        axis_of_sample& seen = axes[static_cast<std::size_t>(axis)];
        const T apart = std::fabs(offset[axis]);
        seen.overlaps += apart <= sample[j].half[axis] + sample[k].half[axis] ? 1 : 0;
        seen.apart += static_cast<double>(apart);
      }
    }
  }
  return axes;
}

}  // namespace

template <typename Context, typename T>
planned_bins<T> sweep_engine<Context, T>::plan(const placed_bodies<Context, T>& bodies,
                                               const bin_options<T>& /*options*/) {
  const std::size_t size = std::min(bodies.count, sweep_sample);
  sample_.resize_discarding(this->context(), sweep_sample);
  for_each(this->context(), "contacts.sweep.sample", size,
           take_sample<T>{bodies.bodies, bodies.count, size, sample_.data()});
  const auto axes = look_along_axes(bodies.domain, to_host(this->context(), sample_.data(), size));
  std::size_t best = 0;
  for (std::size_t axis = 1; axis < axes.size(); ++axis) {
    if (axes[axis].better_than(axes[best])) best = axis;
  }
  axis_ = static_cast<int>(best);
  return {T(0), message("no bins; swept along ", "xyz"[best], ", where ", axes[best].overlaps, " of ",
                        size * (size - 1) / 2, " pairs of a sample overlap")};
}

template <typename Context, typename T>
void sweep_engine<Context, T>::insert(const placed_bodies<Context, T>& bodies) {
  count_ = bodies.count;
  sort(bodies);
  find_walks(bodies);
}

template <typename Context, typename T>
void sweep_engine<Context, T>::sort(const placed_bodies<Context, T>& bodies) {
  const Context& context = this->context();
  sort_buffers<key> buffers{};
  for (int copy = 0; copy < 2; ++copy) {
    keys_[copy].resize_discarding(context, count_);
    ids_[copy].resize_discarding(context, count_);
    buffers.keys[copy] = keys_[copy].data();
    buffers.values[copy] = ids_[copy].data();
  }
  const write_sweep_keys<T, key> body{line_along(bodies.domain, axis_), bodies.bodies, buffers.keys[0]};
  for_each(context, "contacts.sweep.keys", count_, body);
  current_ = sort_pairs(context, buffers, count_, 8 * sizeof(key), scratch_, sort_values::index);
  slots_.resize_discarding(context, count_);
  for_each(context, "contacts.gather", count_, gather_placed<T>{bodies.bodies, ids_[current_].data(), slots_.data()});
}

/// Finds where walks end, and cuts them into rows.
template <typename Context, typename T>
void sweep_engine<Context, T>::find_walks(const placed_bodies<Context, T>& bodies) {
  const Context& context = this->context();
  ends_.resize_discarding(context, count_);
  steps_.resize_discarding(context, count_);
  offsets_.resize_discarding(context, count_ + 1);
  const find_sweep_ends<T, key> body{line_along(bodies.domain, axis_),   slots_.data(), keys_[current_].data(),
                                     static_cast<std::uint32_t>(count_), ends_.data(),  steps_.data()};
  for_each(context, "contacts.sweep.ends", count_, body);
  exclusive_scan_with_total(context, steps_.data(), offsets_.data(), count_, scratch_);
  // There are at most as many steps as pairs.
  const std::uint64_t most = std::uint64_t{count_} * (count_ + 1) / least_sweep_share + 1;
  rows_ = std::min(most, std::max<std::uint64_t>(count_, rows_of_few_bodies<Context>));
}

template <typename Context, typename T>
sweep_search<T> sweep_engine<Context, T>::search() const {
  return {slots_.data(), ends_.data(), offsets_.data(), static_cast<std::uint32_t>(count_), rows_};
}

template <typename Context, typename T>
std::size_t sweep_engine<Context, T>::bytes() const {
  std::size_t sum = sample_.bytes() + slots_.bytes() + ends_.bytes() + steps_.bytes() + offsets_.bytes();
  for (int copy = 0; copy < 2; ++copy) sum += keys_[copy].bytes() + ids_[copy].bytes();
  return sum + scratch_.bytes();
}

template class sweep_engine<backend_context, float>;
template class sweep_engine<backend_context, double>;

}  // namespace quadrat::detail
