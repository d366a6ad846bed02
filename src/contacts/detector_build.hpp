// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>

#include "contacts/checks.hpp"
#include "contacts/detector_implementation.hpp"
#include "quadrat/parallel/sort.hpp"

namespace quadrat {

namespace detail {

/// Index: contact. Its bodies as one number, in which the second id takes so many bits.
template <typename T>
struct contact_key {
  const contact<T>* records;
  std::uint64_t* keys;
  int bits;

  QUADRAT_HD void operator()(std::size_t k) const {
    keys[k] = static_cast<std::uint64_t>(records[k].a) << bits | records[k].b;
  }
};

/// Index: contact in its new place.
template <typename T>
struct gather_contact {
  const std::uint32_t* order;
  const contact<T>* from;
  contact<T>* to;

  QUADRAT_HD void operator()(std::size_t k) const { to[k] = from[order[k]]; }
};

}  // namespace detail

template <typename Context, typename T>
void contact_detector<Context, T>::implementation::build(const bodies_view<T>& bodies) {
  state = stage::failed;
  size = 0;
  current = 0;
  detail::check_bodies(bodies, options.domain);
  // What the search says of method and bins is of the path as long as no other build came between, failed ones
  // included.
  const bool of_path = std::exchange(by_path, false);
  by_path = find_by_path(bodies, of_path);
  if (!by_path) {
    look_at(bodies);
    if (bodies.size() > 0) {
      search.insert();
      find(bodies);
    }
  }
  if (size > 0 && sorted()) sort(bodies.size() + bodies.planes.size());
  state = stage::built;
}

/// Throws for what is wrong with the bodies, and chooses how to search.
template <typename Context, typename T>
void contact_detector<Context, T>::implementation::look_at(const bodies_view<T>& bodies) {
  const fault_report fault = search.place(bodies.size(), placing(bodies));
  if (fault.kind != fault_kind::none) fail(bodies, fault.index);
  search.plan({options.method, options.domain, options.bin_size, options.balance_bins});
}

/// Whether contacts have been found as levels/cuda/path.hpp says; by the plan of the last build where that was
/// `of_path`.
template <typename Context, typename T>
bool contact_detector<Context, T>::implementation::find_by_path(const bodies_view<T>& bodies,
                                                                [[maybe_unused]] bool of_path) {
  if constexpr (detail::warp_path<Context, T>::exists) {
    using levels = detail::contact_search_methods::levels;
    const bool chosen =
        options.method.empty() ? bodies.size() > detail::brute_force_most_bodies : options.method == levels::name;
    if (!chosen || !path.serves(bodies)) return false;
    // A domain that follows the bodies is found anew; so are sizes that were not sound, or not planned for.
    bool planned = of_path && options.domain.has_value() && path.planned_for(context, bodies);
    for (int attempt = 0; attempt < 2; ++attempt) {
      if (!planned) {
        look_at(bodies);
        path.plan(context, bodies, search.domain(), options.bin_size);
        search.take(path.planned());
      }
      if (const auto found = path.find(context, bodies, options.masks, records[0])) {
        size = *found;
        return true;
      }
      planned = false;
    }
  }
  return false;
}

/// One family of bodies, and one way of the search for it.
template <typename Context, typename T>
void contact_detector<Context, T>::implementation::find(const bodies_view<T>& bodies) {
  const detail::group_filter groups(options.masks);
  if (bodies.spheres()) {
    const detail::sphere_family<T> family{search.domain(), groups};
    if (search.way() == detail::pair_way::bins) return find_in_bins(bodies, family);
    return find_in_search(bodies, family);
  }
  const detail::any_family<T> family{search.domain(), groups, placing(bodies).bodies};
  if (search.way() == detail::pair_way::bins) return find_in_bins(bodies, family);
  if (search.way() == detail::pair_way::brute_force) {
    return find_in_rows(bodies, search.brute(), family, search.rows());
  }
  find_in_candidates(bodies, family);
}

template <typename Context, typename T>
template <typename Family>
void contact_detector<Context, T>::implementation::find_in_search(const bodies_view<T>& bodies, const Family& family) {
  search.with_search([&](const auto& found) { find_in_rows(bodies, found, family, search.rows()); });
}

template <typename Context, typename T>
template <typename Family>
void contact_detector<Context, T>::implementation::find_in_candidates(const bodies_view<T>& bodies,
                                                                      const Family& family) {
  candidates.find(context, search, {family.domain, family.groups, {}});
  const detail::listed_search<T> found{search.placed(), candidates.first(), candidates.second()};
  find_in_rows(bodies, found, family, candidates.size());
}

template <typename Context, typename T>
template <typename Search, typename Family>
void contact_detector<Context, T>::implementation::find_in_rows(const bodies_view<T>& bodies, const Search& found,
                                                                const Family& family, std::size_t count) {
  using sink = detail::contact_sink<T>;
  count_then_fill(
      bodies, count,
      [&](std::uint32_t* counts) {
        return detail::count_row<Search, Family>{found, family, counts};
      },
      [&](const sink& to, const std::uint64_t* offsets) {
        return detail::fill_row<Search, Family, sink>{found, family, to, offsets};
      });
}

/// Stages 7 to 9 of parallel-binning-collision: D is what is counted, E what is filled.
template <typename Context, typename T>
template <typename Family>
void contact_detector<Context, T>::implementation::find_in_bins(const bodies_view<T>& bodies, const Family& family) {
  count_then_fill(
      bodies, search.rows(),
      [&](std::uint32_t* counts) {
        return detail::count_bin<T, Family>{search.bins(), family, counts};
      },
      [&](const detail::contact_sink<T>& to, const std::uint64_t* offsets) {
        return detail::fill_bin<T, Family>{search.bins(), family, to, offsets};
      });
}

/// Rows of pairs, and behind them a row of each body for the planes that it touches.
template <typename Context, typename T>
template <typename Count, typename Fill>
void contact_detector<Context, T>::implementation::count_then_fill(const bodies_view<T>& bodies, std::size_t pair_rows,
                                                                   const Count& count, const Fill& fill) {
  const std::size_t plane_rows_count = bodies.planes.empty() ? 0 : bodies.size();
  std::uint32_t* counts = rows.counts(context, pair_rows + plane_rows_count);
  for_each(context, "contacts.count", pair_rows, count(counts));
  const detail::plane_search<T> walls = plane_rows(bodies);
  for_each(context, "contacts.planes.count", plane_rows_count, detail::count_planes<T>{walls, counts + pair_rows});
  const std::uint64_t total = rows.total(context);
  grow(total);
  const detail::contact_sink<T> to{records[0].data(), bodies.centers, search.domain()};
  for_each(context, "contacts.fill", pair_rows, fill(to, rows.offsets()));
  for_each(context, "contacts.planes.fill", plane_rows_count,
           detail::fill_planes<T>{walls, to, rows.offsets() + pair_rows});
  size = total;
}

template <typename Context, typename T>
detail::plane_search<T> contact_detector<Context, T>::implementation::plane_rows(const bodies_view<T>& bodies) {
  planes.resize_discarding(context, bodies.planes.size());
  copy_bytes(context, bodies.planes.data(), planes.data(), bodies.planes.size_bytes());
  return {placing(bodies).bodies, search.placed(), planes.data(), static_cast<std::uint32_t>(bodies.planes.size()),
          detail::group_filter(options.masks)};
}

template <typename Context, typename T>
void contact_detector<Context, T>::implementation::grow(std::uint64_t contacts) {
  if (contacts > records[0].size()) records[0].resize_discarding(context, detail::roomy(contacts));
}

/// By (a, b): the sort is stable, and contacts of one pair have been written in the order of their features.
template <typename Context, typename T>
void contact_detector<Context, T>::implementation::sort(std::size_t ids) {
  const int bits = key_bits_for(ids);
  keys.resize_discarding(context, records[0].size());
  order.resize_discarding(context, records[0].size());
  records[1].resize_discarding(context, records[0].size());
  for_each(context, "contacts.keys", size, detail::contact_key<T>{records[0].data(), keys.data(), bits});
  sort_pairs(context, keys.data(), order.data(), size, 2 * bits, scratch, sort_values::index);
  for_each(context, "contacts.sort", size,
           detail::gather_contact<T>{order.data(), records[0].data(), records[1].data()});
  current = 1;
}

template <typename Context, typename T>
std::size_t contact_detector<Context, T>::implementation::bytes() const {
  return search.bytes() + path.bytes() + candidates.bytes() + rows.bytes() + planes.bytes() + records[0].bytes() +
         records[1].bytes() + keys.bytes() + order.bytes() + scratch.bytes();
}

}  // namespace quadrat
