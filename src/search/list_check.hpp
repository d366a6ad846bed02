// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <string>

#include "quadrat/core/error.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "search/checks.hpp"
#include "search/list.hpp"
#include "search/pairs/select.hpp"
#include "search/point_complaint.hpp"
#include "search/request.hpp"

namespace quadrat {

namespace detail {

inline constexpr std::uint64_t no_fault = ~std::uint64_t{0};

/// Index: 0. `keep`: the fault becomes a former one, unless it has been reported.
struct clear_fault {
  fault_flag faults, former;
  std::uint64_t* reported;
  bool keep;
  QUADRAT_HD void operator()(std::size_t /*i*/) const {
    if (!keep) {
      clear(former);
    } else if (*reported == 0) {
      if (*faults.first < *former.first) *former.first = *faults.first;
      if (*faults.needed > *former.needed) *former.needed = *faults.needed;
    }
    clear(faults);
    *reported = 0;
  }

 private:
  QUADRAT_HD static void clear(const fault_flag& words) {
    *words.first = no_fault;
    *words.needed = 0;
  }
};

}  // namespace detail

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::clear_faults(bool keep) {
  for_each(context, "search.clear_fault", 1,
           detail::clear_fault{faults(), former_faults(), control.data() + reported_word, keep});
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::read_control() {
  take_control(mirror.read(context, control.data(), control_word_count));
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::take_control(const std::uint64_t* words) {
  former_words = {words[former_fault_word], words[former_needed_word]};
  if (words[fault_word] != detail::no_fault) {
    const std::array<std::uint64_t, 2> found{words[fault_word], std::max(words[needed_word], former_words[1])};
    state = stage::failed;
    leaves_faults = true;
    // The message is made once, because the caller may have freed the points by the next check.
    if (failure != nullptr && found == failed_words) return;
    failed_words = found;
    try {
      fail(found[0], found[1]);
    } catch (...) {
      failure = std::current_exception();
    }
    return;
  }
  failure = nullptr;
  size = words[size_word];
  note = words[engine_word];
  state = stage::built;
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::require_success() const {
  if (failure != nullptr) std::rethrow_exception(failure);
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::check() {
  if (replayed) {  // a graph may have rebuilt the list since
    read_control();
    report_former_faults();
  }
  require_success();
}

/// Notes that the faults of the last build are reported, or throws those of replays before it, once.
template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::report_former_faults() {
  const bool former = failure == nullptr;
  if (former && former_words[0] == detail::no_fault) return;
  if (former) {
    clear_faults();
  } else {
    fill_bytes(context, control.data() + reported_word, 1, sizeof(std::uint64_t));
  }
  context.synchronize();  // a graph may be launched in another stream
  if (former) fail(former_words[0], former_words[1]);
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::fail(std::uint64_t fault, std::uint64_t needed) {
  const auto kind = static_cast<fault_kind>(fault & 0xff);
  const std::uint64_t number = fault >> 8;
  // Bases of faults are powers of two above all indices.
  if (kind != fault_kind::overflow) throw data_error(complaint(kind, number), number % detail::query_fault_base);
  if (number >= detail::row_fault_base) {
    throw overflow_error(message(last.queries ? "query " : "point ", number - detail::row_fault_base,
                                 " has too many neighbors, images of the box included: up to ", needed,
                                 "; a row of a list holds fewer than 2^32"),
                         needed);
  }
  if (matrix()) {
    throw overflow_error(
        message("a row of the neighbor matrix is ", options.width, " wide, but point ",
                number - detail::list_fault_base, " has more neighbors; a width of ", needed, " would have sufficed"),
        needed);
  }
  throw overflow_error(message("the neighbor list has room for ", results.capacity(), " pairs, but there are ", needed,
                               "; call build or reserve"),
                       needed);
}

template <typename Context, typename T, int D>
std::string neighbor_list<Context, T, D>::implementation::place_complaint(bool query, std::size_t i) {
  const points_view<T, D>& points = query ? *last.queries : last.points;
  const std::uint32_t* of = query ? last.system_of_query : last.system_of_point;
  const lattice<T, D>& shape = boxes[of == nullptr ? 0 : to_host(context, of + i, 1)[0]];
  return detail::point_complaint(context, shape, points, query ? "query " : "point ", i);
}

template <typename Context, typename T, int D>
std::string neighbor_list<Context, T, D>::implementation::complaint(fault_kind kind, std::uint64_t number) {
  if (number >= detail::level_fault_base) {
    const std::uint64_t i = number - detail::level_fault_base;
    return message("point ", i, " has radius ", to_host(context, last.radii + i, 1)[0],
                   ", for which the levels of the last build have no room; build_async works in them; call build");
  }
  if (number >= detail::exclusion_fault_base) return exclusion_complaint(kind, number - detail::exclusion_fault_base);
  const bool query = number >= detail::query_fault_base;
  const std::size_t i = query ? number - detail::query_fault_base : number;
  const char* what = query ? "query " : "point ";
  if (kind == fault_kind::key_range) {
    const std::uint32_t* of = query ? last.system_of_query : last.system_of_point;
    return message(what, i, " belongs to system ", to_host(context, of + i, 1)[0], "; there are ", boxes.size());
  }
  if (kind == fault_kind::value_range && options.rule == cutoff_rule::table_of_types) {
    return message(what, i, " has type ", to_host(context, (query ? last.types_of_queries : last.types) + i, 1)[0],
                   "; the table has ", detail::type_count(options), " types");
  }
  if (kind == fault_kind::value_range) {
    return message(what, i, " has radius ", to_host(context, (query ? last.radii_of_queries : last.radii) + i, 1)[0],
                   "; with a cutoff of ", options.cutoff, " it must be from 0 to ", detail::most_radius(options));
  }
  return place_complaint(query, i);
}

template <typename Context, typename T, int D>
std::string neighbor_list<Context, T, D>::implementation::exclusion_complaint(fault_kind kind, std::size_t i) {
  const auto row = to_host(context, last.excluded_offsets + i, 2);
  if (kind == fault_kind::key_range) {
    const std::uint64_t end = std::min(row[1], to_host(context, last.excluded_offsets + point_count, 1)[0]);
    const std::uint64_t begin = std::min(row[0], end);
    for (const particle_id other : to_host(context, last.excluded + begin, end - begin)) {
      if (other >= point_count) {
        return message("point ", i, " excludes pairs with point ", other, "; there are ", point_count, " points");
      }
    }
  }
  const std::string where = message("row ", i, " of the excluded pairs begins at ", row[0], " and ends at ", row[1]);
  if (row[0] > row[1]) return where + "; excluded_offsets must not decrease";
  if (last.excluded == nullptr) return where + ", but excluded is null";
  return message("the excluded pairs of point ", i, " were invalid when the list was built");
}

/// Looks for points that have moved or been wrapped; returns the control words. Synchronizes.
template <typename Context, typename T, int D>
const std::uint64_t* neighbor_list<Context, T, D>::implementation::find_motion(const neighbor_input<T, D>& input) {
  static_assert(turned_word == moved_word + 1);
  fill_bytes(context, control.data() + moved_word, 0, 2 * sizeof(std::uint64_t));
  const detail::search_key<T, D> key{search(input), options.accept_outside, faults()};
  for_each(context, "search.find_movers", input.points.count,
           detail::find_movers<T, D>{key, memory(), control.data() + moved_word, control.data() + turned_word});
  keep_points(input);
  return mirror.read(context, control.data(), control_word_count);
}

template <typename Context, typename T, int D>
bool neighbor_list<Context, T, D>::implementation::follow(const neighbor_input<T, D>& input) {
  if (replayed) read_control();
  const bool built = state == stage::built;
  state = stage::failed;  // until the list is updated to these points
  attempt([&] { detail::check_neighbor_input(options, input); });
  if (!built || input.points.count != remembered.positions.size() || !detail::same_boxes(given_boxes, input.boxes) ||
      given_systems != (input.system_of_point != nullptr) ||
      (last.excluded_offsets == nullptr) != (input.excluded_offsets == nullptr)) {
    return false;
  }
  const std::uint64_t* words = find_motion(input);
  if (words[moved_word] != 0) return false;
  if (results.keeps_shifts() && (words[turned_word] != 0 || results.keeps_separations())) {
    constexpr unsigned lanes = cuda ? 32 : 1;
    for_each(context, "search.refresh", lanes * rows,
             detail::refresh_row<T, D>{search(input), sink(false), remembered.turns.data(), lanes});
  }
  state = stage::built;
  return true;
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::keep_points(const neighbor_input<T, D>& input) {
  for_each(context, "search.keep_points", input.points.count,
           detail::keep_pair_points<T, D>{search(input), kept.points.data(),
                                          results.keeps_shifts() ? kept.homes.data() : nullptr,
                                          given_systems ? kept.systems.data() : nullptr});
}

namespace detail {

/// Whether the list can hold only the nearest image of a point. A list without shifts requires this.
template <typename T, int D>
[[nodiscard]] bool lists_nearest_images(std::span<const lattice<T, D>> boxes, T reach, bool shifts) {
  const T least = static_cast<T>(boxes_of_nearest_image) * reach;
  for (const lattice<T, D>& shape : boxes) {
    for (int axis = 0; axis < D; ++axis) {
      if (!shape.periodic[axis] || shape.height(axis) >= least) continue;
      require(shifts, "the height of the box along its periodic vector ", axis, " is ", shape.height(axis),
              ", so several images of a point may be listed; the pairs of such a list need options.shifts, or boxes of "
              "at least ",
              least);
      return false;
    }
  }
  return true;
}

}  // namespace detail

template <typename Context, typename T, int D>
detail::listed_pairs<T, D> neighbor_list<Context, T, D>::implementation::pairs() const {
  require(!last.queries.has_value(),
          "the list was built for queries; sums over pairs need the neighbors of the points");
  require(keeps_points(), "the list keeps no points; give it a skin, or set options.keeps_points");
  const bool nearest = detail::lists_nearest_images<T, D>(boxes, options.cutoff + options.skin, results.keeps_shifts());
  const neighbor_list_view<T, D> entries = results.view(rows);
  detail::listed_pairs<T, D> result{};
  result.rows = rows;
  result.width = entries.width;
  result.capacity = results.capacity();
  result.offsets = entries.offsets;
  result.counts = entries.counts;
  result.neighbors = entries.neighbors;
  result.shifts = nearest ? nullptr : results.shifts();
  result.maps = nearest ? nullptr : maps();
  result.points = kept.points.data();
  result.homes = kept.homes.data();
  result.system_of_point = given_systems ? kept.systems.data() : nullptr;
  result.shapes = kept.shapes.data();
  result.shape = boxes.front();
  result.half = options.pairs == neighbor_pairs::half;
  result.rule = options.rule;
  result.cutoff = options.cutoff;
  result.type_cutoffs = type_cutoffs.data();
  result.type_count = options.rule == cutoff_rule::table_of_types ? detail::type_count(options) : 0;
  result.version = version;
  if constexpr (!cuda) result.select = detail::fastest_selection<T, D>();
  return result;
}

}  // namespace quadrat
