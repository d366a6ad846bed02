// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <span>
#include <type_traits>

#include "cells/counting_build.hpp"
#include "core/backend.hpp"
#include "core/point_checks.hpp"
#include "core/reduced_lattice.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/fault.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/for_each_part.hpp"
#include "quadrat/search/pair_histogram.hpp"
#include "search/cells.hpp"
#include "search/checks.hpp"
#include "search/pairs/count.hpp"
#include "search/point_complaint.hpp"

namespace quadrat {

template <typename Context, typename T, int D>
struct pair_histogram<Context, T, D>::implementation {
  implementation(const Context& where, const pair_histogram_options<T>& chosen);

  void add(const points_view<T, D>& points, std::span<const lattice<T, D>> boxes, const std::uint32_t* system_of_point,
           const std::uint32_t* types);
  void clear();
  [[nodiscard]] pair_histogram_result result() const;
  [[nodiscard]] std::size_t bytes() const {
    return systems.bytes() + buckets.bytes() + placed.bytes() + counts.bytes() + total.bytes();
  }

  Context context;
  pair_histogram_options<T> options;

 private:
  using one = detail::one_system<T, D>;
  using several = detail::systems_of_slots<T, D>;
  [[nodiscard]] std::size_t size() const { return options.bins * options.types * (options.types + 1) / 2; }
  [[nodiscard]] std::vector<double> expect(std::size_t count, std::span<const lattice<T, D>> boxes,
                                           const std::uint32_t* system_of_point, const std::uint32_t* types) const;
  [[nodiscard]] detail::search_system<T, D> place(const points_view<T, D>& points, std::span<const lattice<T, D>> boxes,
                                                  const std::uint32_t* system_of_point);
  template <typename Systems>
  void count(const points_view<T, D>& points, const Systems& of, const std::uint32_t* types);
  template <typename Pairs>
  void count_into_copies(const Pairs& pairs, std::size_t points);

  std::size_t frames = 0;
  std::vector<double> expected;  ///< by pair of types: the sum of N_a N_b / V
  fault_state<Context> faults;
  array<detail::search_system<T, D>, Context> systems;  ///< if there are several
  counting_buckets<Context> buckets;
  array<detail::search_point<T, D>, Context> placed;
  array<std::uint64_t, Context> counts;  ///< of one frame: copies of the histogram
  array<std::uint64_t, Context> total;
};

template <typename Context, typename T, int D>
pair_histogram<Context, T, D>::implementation::implementation(const Context& where,
                                                              const pair_histogram_options<T>& chosen)
    : context(where), options(chosen), faults(where) {
  const T cutoff = options.cutoff;
  require(cutoff > T(0) && std::isfinite(cutoff), "the cutoff is ", cutoff, "; it must be positive and finite");
  require(cutoff * cutoff > T(0) && std::isfinite(cutoff * cutoff), "the cutoff is ", cutoff,
          "; its square must be positive and finite");
  constexpr std::size_t most_bins = std::size_t{1} << 20, most_types = 64;
  require(options.bins >= 1 && options.bins <= most_bins, "there are ", options.bins, " bins; 1 to ", most_bins,
          " are possible");
  require(options.types >= 1 && options.types <= most_types, "there are ", options.types, " types; 1 to ", most_types,
          " are possible");
  total.resize_discarding(context, size());
  clear();
}

template <typename Context, typename T, int D>
void pair_histogram<Context, T, D>::implementation::clear() {
  frames = 0;
  expected.assign(size() / options.bins, 0);
  fill_bytes(context, total.data(), 0, size() * sizeof(std::uint64_t));
}

namespace detail {

namespace {

/// The numbers that points have, on the host; all 0 for nullptr. Throws data_error for the first one that is too large.
template <typename Context>
[[nodiscard]] std::vector<std::uint32_t> numbers_below(const Context& context, const std::uint32_t* numbers,
                                                       std::size_t count, std::size_t end, const char* verb,
                                                       const char* what) {
  if (numbers == nullptr) return std::vector<std::uint32_t>(count, 0);
  std::vector<std::uint32_t> all = to_host(context, numbers, count);
  for (std::size_t i = 0; i < count; ++i) {
    if (all[i] < end) continue;
    throw data_error(message("point ", i, " ", verb, " ", what, " ", all[i], "; there are ", end, " ", what, "s"), i);
  }
  return all;
}

template <typename T, int D>
[[nodiscard]] double volume_of(const lattice<T, D>& shape) {
  double volume = 0;
  static_cast<void>(
      reciprocal(make_vec<vec<double, D>, D>([&](int axis) { return cast<double>(shape.vectors[axis]); }), volume));
  return std::fabs(volume);
}

}  // namespace

}  // namespace detail

/// By pair of types: the sum of N_a N_b / V over the systems. Throws data_error for a system or a type that is out of
/// range.
template <typename Context, typename T, int D>
std::vector<double> pair_histogram<Context, T, D>::implementation::expect(std::size_t count,
                                                                          std::span<const lattice<T, D>> boxes,
                                                                          const std::uint32_t* system_of_point,
                                                                          const std::uint32_t* types) const {
  std::vector<double> sums(expected.size(), 0), numbers(options.types);
  const auto add_system = [&](const lattice<T, D>& box) {
    const double volume = detail::volume_of(box);
    for (std::size_t a = 0, pair = 0; a < numbers.size(); ++a) {
      for (std::size_t b = a; b < numbers.size(); ++b) {
        const double others = a == b && options.distinct ? std::max(numbers[b] - 1, 0.0) : numbers[b];
        sums[pair++] += numbers[a] * others / volume;
      }
    }
  };
  if (system_of_point == nullptr && types == nullptr) {
    numbers[0] = static_cast<double>(count);
    add_system(boxes.front());
    return sums;
  }
  const auto of_points = detail::numbers_below(context, types, count, options.types, "has", "type");
  const auto systems_of_points =
      detail::numbers_below(context, system_of_point, count, boxes.size(), "belongs to", "system");
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return systems_of_points[a] < systems_of_points[b]; });
  for (std::size_t k = 0; k < count;) {
    const std::uint32_t system = systems_of_points[order[k]];
    std::fill(numbers.begin(), numbers.end(), 0.0);
    for (; k < count && systems_of_points[order[k]] == system; ++k) ++numbers[of_points[order[k]]];
    add_system(boxes[system]);
  }
  return sums;
}

/// Puts the points in the order of cells; returns the first system. Throws data_error for a bad point.
template <typename Context, typename T, int D>
detail::search_system<T, D> pair_histogram<Context, T, D>::implementation::place(const points_view<T, D>& points,
                                                                                 std::span<const lattice<T, D>> boxes,
                                                                                 const std::uint32_t* system_of_point) {
  std::vector<lattice<T, D>> shapes;
  for (const lattice<T, D>& given : boxes) shapes.push_back(detail::reduced(given, false).shape);
  const detail::cells_request<T, D> wanted{vec<T, D>::filled(options.cutoff / 2), options.cutoff,
                                           detail::most_cells(points.count), options.accept_outside};
  const auto cut = detail::make_search_systems(std::span<const lattice<T, D>>(shapes), wanted);
  detail::search_key<T, D> key{};
  key.search.points = points;
  key.accept_outside = options.accept_outside;
  key.faults = faults.flag();
  if (system_of_point == nullptr) {
    buckets.build(context, points.count, detail::cell_count(cut), detail::search_key_of_one<T, D>{key, cut.front()},
                  key.faults);
  } else {
    systems = to_device(context, cut);
    key.search.systems = systems.data();
    key.search.system_count = static_cast<std::uint32_t>(cut.size());
    key.search.system_of_point = system_of_point;
    buckets.build(context, points.count, detail::cell_count(cut), key, key.faults);
  }
  const fault_report fault = faults.read(context);
  if (fault.kind != fault_kind::none) {
    faults.clear(context);
    const std::size_t i = fault.index;
    const lattice<T, D>& box = boxes[system_of_point == nullptr ? 0 : to_host(context, system_of_point + i, 1)[0]];
    throw data_error(detail::point_complaint(context, box, points, "point ", i), i);
  }
  return cut.front();
}

/// Counts the pairs of points in their cells.
template <typename Context, typename T, int D>
template <typename Systems>
void pair_histogram<Context, T, D>::implementation::count(const points_view<T, D>& points, const Systems& of,
                                                          const std::uint32_t* types) {
  placed.resize_discarding(context, points.count);
  for_each(context, "search.pairs.place", points.count,
           detail::place_typed_points<T, D, Systems>{of, points, types, buckets.view().elements, placed.data()});
  const T per_length = static_cast<T>(static_cast<double>(options.bins) / static_cast<double>(options.cutoff));
  count_into_copies(detail::pair_distances<T, D, Systems>{of, buckets.view().offsets, placed.data(), options.cutoff,
                                                          options.cutoff * options.cutoff, per_length,
                                                          static_cast<std::uint32_t>(options.bins), options.types},
                    points.count);
  context.synchronize();
}

/// CPU: a histogram for each thread. CUDA: several copies that threads share.
template <typename Context, typename T, int D>
template <typename Pairs>
void pair_histogram<Context, T, D>::implementation::count_into_copies(const Pairs& pairs, std::size_t points) {
  std::size_t copies = 0;
  if constexpr (std::is_same_v<Context, cpu_context>) {
    copies = static_cast<std::size_t>(context.threads());
  } else {
    constexpr std::size_t most_words = std::size_t{1} << 22;
    for (copies = 256; copies > 1 && copies * size() > most_words;) copies /= 2;
  }
  counts.resize_discarding(context, copies * size());
  fill_bytes(context, counts.data(), 0, copies * size() * sizeof(std::uint64_t));
  if constexpr (std::is_same_v<Context, cpu_context>) {
    constexpr std::size_t chunk = 256;
    const auto chunks = static_cast<std::int64_t>((points + chunk - 1) / chunk);
    std::int64_t next = 0;
    detail::for_each_part(context.threads(), copies, [&](std::size_t copy) {
      std::uint64_t* const own = counts.data() + copy * size();
      for (;;) {
        const std::int64_t taken = atomic_add(&next, std::int64_t{1});
        if (taken >= chunks) break;
        const std::size_t begin = static_cast<std::size_t>(taken) * chunk, end = std::min(points, begin + chunk);
        for (std::size_t slot = begin; slot < end; ++slot) {
          pairs.count(static_cast<std::uint32_t>(slot),
                      [own](std::uint32_t bin, std::uint32_t number) { own[bin] += number; });
        }
      }
    });
  } else {
    for_each(context, "search.pairs.count", points,
             detail::count_distances<Pairs>{pairs, counts.data(), size(), copies});
  }
  for_each(context, "search.pairs.collect", size(),
           detail::collect_copies{total.data(), counts.data(), size(), copies});
}

template <typename Context, typename T, int D>
void pair_histogram<Context, T, D>::implementation::add(const points_view<T, D>& points,
                                                        std::span<const lattice<T, D>> boxes,
                                                        const std::uint32_t* system_of_point,
                                                        const std::uint32_t* types) {
  detail::check_systems(points, boxes, system_of_point);
  const std::vector<double> more = expect(points.count, boxes, system_of_point, types);
  if (points.count > 0) {
    const detail::search_system<T, D> first = place(points, boxes, system_of_point);
    if (system_of_point == nullptr) {
      count(points, one{first}, types);
    } else {
      count(points, several{systems.data(), system_of_point, buckets.view().elements}, types);
    }
  }
  frames += boxes.size();
  for (std::size_t pair = 0; pair < more.size(); ++pair) expected[pair] += more[pair];
}

template <typename Context, typename T, int D>
pair_histogram_result pair_histogram<Context, T, D>::implementation::result() const {
  pair_histogram_result found;
  found.frames = frames;
  found.bins = options.bins;
  found.types = options.types;
  found.width = static_cast<double>(options.cutoff) / static_cast<double>(options.bins);
  found.counts = to_host(context, total.data(), size());
  found.rdf.resize(found.counts.size());
  constexpr double ball = D == 2 ? std::numbers::pi : 4 * std::numbers::pi / 3;
  for (std::size_t k = 0; k < found.counts.size(); ++k) {
    const double low = static_cast<double>(k % options.bins) * found.width, high = low + found.width;
    const double shell = ball * (std::pow(high, D) - std::pow(low, D));
    const double wanted = expected[k / options.bins] * shell;
    found.rdf[k] = wanted > 0 ? static_cast<double>(found.counts[k]) / wanted : 0;
  }
  return found;
}

template <typename Context, typename T, int D>
pair_histogram<Context, T, D>::pair_histogram(const Context& context, const pair_histogram_options<T>& options)
    : implementation_(std::make_unique<implementation>(context, options)) {}

template <typename Context, typename T, int D>
void pair_histogram<Context, T, D>::add(const points_view<T, D>& points, const lattice<T, D>& box,
                                        const std::uint32_t* types) {
  implementation_->add(points, std::span<const lattice<T, D>>(&box, 1), nullptr, types);
}
template <typename Context, typename T, int D>
void pair_histogram<Context, T, D>::add(const points_view<T, D>& points, std::span<const lattice<T, D>> boxes,
                                        const std::uint32_t* system_of_point, const std::uint32_t* types) {
  implementation_->add(points, boxes, system_of_point, types);
}
template <typename Context, typename T, int D>
pair_histogram_result pair_histogram<Context, T, D>::result() const {
  return implementation_->result();
}
template <typename Context, typename T, int D>
void pair_histogram<Context, T, D>::clear() {
  implementation_->clear();
}
template <typename Context, typename T, int D>
std::size_t pair_histogram<Context, T, D>::bytes() const {
  return implementation_->bytes();
}
template <typename Context, typename T, int D>
const pair_histogram_options<T>& pair_histogram<Context, T, D>::options() const {
  return implementation_->options;
}

template class pair_histogram<backend_context, float, 2>;
template class pair_histogram<backend_context, float, 3>;
template class pair_histogram<backend_context, double, 2>;
template class pair_histogram<backend_context, double, 3>;

}  // namespace quadrat
