// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/search/neighbor_list.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <vector>

#include "cells/counting_build.hpp"
#include "core/backend.hpp"
#include "core/number_text.hpp"
#include "parallel/host_mirror.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/reduce.hpp"
#include "quadrat/parallel/scan.hpp"
#include "search/neighbor_checks.hpp"
#include "search/neighbor_kernels.hpp"
#include "search/neighbor_masks.hpp"
#include "search/neighbor_methods.hpp"
#include "search/neighbor_sort.hpp"
#include "search/neighbor_sweeps.hpp"

namespace quadrat {

namespace {

/// Words that the device writes and the host reads: the two of a fault flag, the number of entries, whether points
/// have moved.
enum control_word : std::size_t { fault_word, needed_word, size_word, moved_word, masks_word, control_words };

template <typename T, int D>
[[nodiscard]] bool same_boxes(const std::vector<lattice<T, D>>& a, std::span<const lattice<T, D>> b) {
  if (a.size() != b.size()) return false;
  // Nearly always the same bytes; where padding differs, the values decide.
  if (std::memcmp(a.data(), b.data(), b.size_bytes()) == 0) return true;
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (!(a[k].origin == b[k].origin && a[k].vectors == b[k].vectors && a[k].periodic == b[k].periodic)) return false;
  }
  return true;
}

}  // namespace

template <typename Context, typename T, int D>
struct neighbor_list<Context, T, D>::implementation {
  implementation(const Context& where, const neighbor_options<T>& chosen);

  void build(const neighbor_input<T, D>& input);
  void build_asynchronously(const neighbor_input<T, D>& input);
  void check();
  [[nodiscard]] bool has_moved(const neighbor_input<T, D>& input);

  Context context;
  neighbor_options<T> options;
  std::string_view method;
  std::string reason;

  enum class stage { empty, built, failed } state = stage::empty;
  bool replayed = false;  // the last build was asynchronous, and may be repeated by a graph
  std::size_t point_count = 0;
  std::size_t rows = 0;
  std::uint64_t size = 0;
  std::uint64_t capacity = 0;  // entries that the arrays hold
  std::exception_ptr failure;
  neighbor_input<T, D> last;  // for messages

  array<std::uint64_t, Context> offsets;
  array<std::uint32_t, Context> counts;
  array<particle_id, Context> neighbors;
  array<particle_id, Context> first;
  array<T, Context> squared_distances;
  array<vec<T, D>, Context> vectors;
  array<vec<int, D>, Context> shifts;

  std::vector<lattice<T, D>> boxes;
  detail::search_system<T, D> first_system{};
  bool any_periodic = false;
  bool boxes_of_one_image = false;
  bool boxes_of_nearest_image = false;
  bool small_boxes = false;  // every pair of a system is tried
  std::size_t cells = 0;
  array<detail::search_system<T, D>, Context> systems;
  array<T, Context> type_cutoffs;
  counting_buckets<Context> buckets;
  array<std::uint32_t, Context> small_offsets;  // instead of the buckets, where one block builds the cells
  array<particle_id, Context> small_elements;
  array<detail::search_point<T, D>, Context> records;
  array<T, Context> positions_xy;
  array<T, Context> positions_z;
  array<T, Context> coordinates;  // for sweeps, in place of the records
  array<particle_id, Context> slot_ids;
  array<vec<T, D>, Context> remembered;
  array<std::uint64_t, Context> keys;
  array<detail::candidate_mask, Context> mask_words;
  array<detail::row_share, Context> mask_shares;
  std::uint32_t words_a_row = 0;
  std::uint64_t most_masks = 0;  // that a row needed, where there was no room for them
  array<std::uint64_t, Context> control;
  detail::host_mirror<Context> mirror;  // of the control words
  workspace<Context> scratch;

  [[nodiscard]] std::size_t bytes() const;
  void grow(std::uint64_t entries);

 private:
  static constexpr bool cuda = std::is_same_v<Context, cuda_context>;

  [[nodiscard]] bool by_warps() const { return method == detail::neighbor_search_methods::warps::name; }
  [[nodiscard]] bool by_masks() const { return method == detail::neighbor_search_methods::masks::name || by_warps(); }
  [[nodiscard]] detail::split_positions<T, D> split() {
    return {by_masks() ? positions_xy.data() : nullptr, positions_z.data()};
  }
  [[nodiscard]] bool by_sweeps() const { return method == detail::neighbor_search_methods::sweeps::name; }
  [[nodiscard]] bool small() const {
    return by_warps() && boxes.size() == 1 && point_count <= detail::small_cells_most &&
           cells <= detail::small_cells_most && context.reproducibility() == determinism::none;
  }
  [[nodiscard]] bool matrix() const { return options.layout == neighbor_layout::matrix; }
  [[nodiscard]] fault_flag faults() { return {control.data() + fault_word, control.data() + needed_word}; }
  void choose_method(const neighbor_input<T, D>& input);
  void set_boxes(std::span<const lattice<T, D>> given, std::size_t count);
  void prepare(const neighbor_input<T, D>& input);
  [[nodiscard]] detail::neighbor_search<T, D> search(const neighbor_input<T, D>& input);
  [[nodiscard]] detail::neighbor_sink<T, D> sink(bool refuse);
  [[nodiscard]] detail::masks_search<T, D> masks(const detail::neighbor_search<T, D>& what);
  [[nodiscard]] detail::sweeps_search<T, D> sweeps(const detail::neighbor_search<T, D>& what);
  void enqueue_cells(const neighbor_input<T, D>& input);
  void gather(const detail::neighbor_search<T, D>& what);
  void enqueue_counts(const neighbor_input<T, D>& input);
  void enqueue_entries(const neighbor_input<T, D>& input, bool refuse);
  void enqueue_matrix_size();
  [[nodiscard]] bool grow_masks();
  void read_control();
  [[noreturn]] void fail(const std::uint64_t* words);
  [[nodiscard]] std::string complaint(fault_kind kind, std::uint64_t number);
  [[nodiscard]] std::string point_text(const points_view<T, D>& points, std::size_t i);
};

template <typename Context, typename T, int D>
neighbor_list<Context, T, D>::implementation::implementation(const Context& where, const neighbor_options<T>& chosen)
    : context(where), options(chosen), control(where, control_words) {
  detail::check_neighbor_options(options, cuda);
  fill_bytes(context, control.data(), 0, control.bytes());
  fill_bytes(context, control.data() + fault_word, 0xff, sizeof(std::uint64_t));
  if (options.rule == cutoff_rule::table_of_types) type_cutoffs = to_device(context, options.type_cutoffs);
}

template <typename Context, typename T, int D>
std::size_t neighbor_list<Context, T, D>::implementation::bytes() const {
  return offsets.bytes() + counts.bytes() + neighbors.bytes() + first.bytes() + squared_distances.bytes() +
         vectors.bytes() + shifts.bytes() + systems.bytes() + type_cutoffs.bytes() + buckets.bytes() + records.bytes() +
         coordinates.bytes() + slot_ids.bytes() + remembered.bytes() + keys.bytes() + mask_words.bytes() +
         mask_shares.bytes() + control.bytes() + scratch.bytes();
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::grow(std::uint64_t entries) {
  if (entries <= capacity) return;
  capacity = 0;
  neighbors.resize_discarding(context, entries);
  if (options.layout == neighbor_layout::pairs) first.resize_discarding(context, entries);
  if (options.squared_distances) squared_distances.resize_discarding(context, entries);
  if (options.vectors) vectors.resize_discarding(context, entries);
  if (options.shifts) shifts.resize_discarding(context, entries);
  if (options.sorted) keys.resize_discarding(context, entries);
  capacity = entries;
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::choose_method(const neighbor_input<T, D>& input) {
  const bool serve = boxes_of_one_image && detail::masks_serve_input(options, input);
  if (!options.method.empty()) {
    detail::neighbor_method_list::with("neighbor method", options.method,
                                       [&](auto named) { method = decltype(named)::name; });
    reason = "asked for";
    require(!(by_masks() || by_sweeps()) || serve, "the neighbor method ", method,
            " was asked for; it serves "
            "orthorhombic boxes, of which no periodic axis is shorter than 1.1 cutoffs, with the uniform rule, without "
            "queries, excluded pairs or points outside");
  } else if (cuda && QUADRAT_HAS_CUDA && serve) {
    const bool small = input.points.count <= detail::warps_most_points;
    method = small ? detail::neighbor_search_methods::warps::name : detail::neighbor_search_methods::masks::name;
    reason = message("orthorhombic boxes and one cutoff on a GPU, ", small ? "at most " : "more than ",
                     detail::warps_most_points, " points");
  } else if (!cuda && input.points.count > 64 && serve) {
    method = detail::neighbor_search_methods::sweeps::name;
    reason = "orthorhombic boxes and one cutoff on a CPU";
  } else if (input.points.count <= 64) {
    method = detail::neighbor_search_methods::brute_force::name;
    reason = "at most 64 points, fewer than a neighborhood of cells would hold";
  } else {
    method = detail::neighbor_search_methods::strips::name;
    reason = "rows of cells are the longest ranges that a search can read";
  }
  small_boxes = by_masks() && !by_warps() && boxes_of_nearest_image && input.boxes.size() > 1 &&
                input.points.count <= detail::all_pairs_most_points * input.boxes.size();
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::set_boxes(std::span<const lattice<T, D>> given, std::size_t count) {
  const T reach = options.cutoff + options.skin;
  bool one_cell = false;
  detail::neighbor_method_list::with("neighbor method", method,
                                     [&](auto named) { one_cell = decltype(named)::one_cell; });
  // More cells than points would only be empty ones.
  const std::size_t most = one_cell || small_boxes ? 1 : std::size_t{64} + 4 * count;
  vec<T, D> edges = vec<T, D>::filled(reach);
  if (by_masks() || by_sweeps()) edges[0] /= T(detail::masks_cells_along_first_axis);
  const auto made = detail::make_search_systems(given, edges, reach, most);
  first_system = made.front();
  any_periodic = false;
  double volume = 0;
  for (const lattice<T, D>& shape : given) {
    double product = 1;
    for (int axis = 0; axis < D; ++axis) product *= static_cast<double>(shape.height(axis) / reach);
    volume += product;
    for (int axis = 0; axis < D; ++axis) any_periodic = any_periodic || shape.periodic[axis];
  }
  words_a_row = small_boxes ? static_cast<std::uint32_t>(count / given.size() / 20 + 2)
                            : detail::masks_a_row<D>(static_cast<double>(count) / volume);
  cells = detail::cell_count(made);
  systems = to_device(context, made);
  boxes.assign(given.begin(), given.end());
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::prepare(const neighbor_input<T, D>& input) {
  detail::check_neighbor_input(options, input);
  const bool other_size = input.points.count > 2 * point_count || 2 * input.points.count < point_count;
  const bool other_boxes = !same_boxes(boxes, input.boxes);
  if (other_boxes) {
    boxes.clear();
    boxes_of_one_image = detail::boxes_hold(options, input.boxes, static_cast<T>(detail::boxes_of_one_image));
    boxes_of_nearest_image = detail::boxes_hold(options, input.boxes, static_cast<T>(detail::boxes_of_nearest_image));
  }
  const std::string_view before = method;
  const bool small_before = small_boxes;
  choose_method(input);
  if (other_boxes || other_size || before != method || small_before != small_boxes) {
    set_boxes(input.boxes, input.points.count);
  }
  rows = input.queries.has_value() ? input.queries->count : input.points.count;
  require(!matrix() || rows == 0 || options.width <= (std::uint64_t{1} << 40) / rows, "a matrix of ", rows, " x ",
          options.width, " entries was asked for; at most 2^40 are possible");
  counts.resize_discarding(context, rows);
  if (!matrix()) offsets.resize_discarding(context, rows + 1);
  if (by_sweeps()) {
    coordinates.resize_discarding(context, D * (input.points.count + detail::sweeps_padding));
    slot_ids.resize_discarding(context, input.points.count + detail::sweeps_padding);
  } else {
    records.resize_discarding(context, input.points.count + detail::masks_padding);
  }
  point_count = input.points.count;
  if (by_masks() && !by_warps()) {
    mask_words.resize_discarding(context, static_cast<std::size_t>(words_a_row) * rows);
    mask_shares.resize_discarding(context, rows);
  }
  if (by_masks()) {
    positions_xy.resize_discarding(context, 2 * (point_count + detail::masks_padding));
    positions_z.resize_discarding(context, point_count + detail::masks_padding);
  }
  if (small()) {
    small_offsets.resize_discarding(context, cells + 1);
    small_elements.resize_discarding(context, point_count);
  }
  if (options.skin > T(0)) remembered.resize_discarding(context, input.points.count);
  if (matrix()) grow(static_cast<std::uint64_t>(rows) * options.width);
  last = input;
  last.boxes = {};
}

template <typename Context, typename T, int D>
detail::neighbor_search<T, D> neighbor_list<Context, T, D>::implementation::search(const neighbor_input<T, D>& input) {
  detail::neighbor_search<T, D> result{};
  result.points = input.points;
  result.own_queries = input.queries.has_value();
  result.queries = input.queries.value_or(points_view<T, D>{});
  result.systems = systems.data();
  result.system_count = static_cast<std::uint32_t>(boxes.size());
  result.system_of_point = input.system_of_point;
  result.system_of_query = input.system_of_query;
  result.records = records.data();
  detail::neighbor_method_list::with("neighbor method", method,
                                     [&](auto named) { result.order = decltype(named)::order; });
  result.reach = options.cutoff + options.skin;
  result.squared_reach = result.reach * result.reach;
  result.skin = options.skin;
  result.rule = options.rule;
  result.half = options.pairs == neighbor_pairs::half;
  result.radii = input.radii;
  result.types = input.types;
  result.type_count = options.rule == cutoff_rule::table_of_types ? detail::type_count(options) : 0;
  result.type_cutoffs = type_cutoffs.data();
  result.excluded_offsets = input.excluded_offsets;
  result.excluded = input.excluded;
  return result;
}

template <typename Context, typename T, int D>
detail::neighbor_sink<T, D> neighbor_list<Context, T, D>::implementation::sink(bool refuse) {
  return {matrix() ? nullptr : offsets.data(),
          counts.data(),
          options.width,
          capacity,
          options.sorted ? keys.data() : nullptr,
          neighbors.data(),
          options.layout == neighbor_layout::pairs ? first.data() : nullptr,
          options.squared_distances ? squared_distances.data() : nullptr,
          options.vectors ? vectors.data() : nullptr,
          options.shifts ? shifts.data() : nullptr,
          faults(),
          control.data() + size_word,
          refuse};
}

template <typename Context, typename T, int D>
detail::masks_search<T, D> neighbor_list<Context, T, D>::implementation::masks(
    const detail::neighbor_search<T, D>& what) {
  const bool long_rows = words_a_row >= detail::masks_of_long_rows;
  return {what,
          first_system,
          any_periodic,
          by_warps(),
          small_boxes,
          static_cast<std::uint32_t>(rows),
          small() ? small_elements.data() : buckets.view().elements,
          positions_xy.data(),
          positions_z.data(),
          mask_words.data(),
          words_a_row,
          long_rows ? words_a_row : std::size_t{1},
          long_rows ? std::size_t{1} : rows,
          mask_shares.data(),
          control.data() + masks_word};
}

template <typename Context, typename T, int D>
detail::sweeps_search<T, D> neighbor_list<Context, T, D>::implementation::sweeps(
    const detail::neighbor_search<T, D>& what) {
  return {
      what, cells, buckets.view().elements, coordinates.data(), slot_ids.data(), point_count + detail::sweeps_padding};
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::enqueue_cells(const neighbor_input<T, D>& input) {
  detail::neighbor_search<T, D> what = search(input);
  const detail::search_key<T, D> key{what, options.accept_outside, faults()};
  if (small()) {
    const detail::search_key_of_one<T, D> key_of_one{key, first_system};
    if constexpr (cuda) {
      detail::enqueue_small_cells(context, key_of_one, point_count, cells,
                                  {small_offsets.data(), small_elements.data(), records.data(), split()});
    }
  } else {
    if (boxes.size() == 1) {
      buckets.build(context, point_count, cells, detail::search_key_of_one<T, D>{key, first_system}, faults());
    } else {
      buckets.build(context, point_count, cells, key, faults());
    }
    gather(what);
  }
  if (what.own_queries) for_each(context, "search.check_queries", rows, detail::check_queries<T, D>{key});
  if (options.skin > T(0)) {
    for_each(context, "search.remember", input.points.count,
             detail::remember_points<T, D>{input.points, remembered.data()});
  }
}

/// Points in the order of their cells.
template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::gather(const detail::neighbor_search<T, D>& what) {
  if constexpr (!cuda) {
    if (by_sweeps()) return detail::gather_for_sweeps(context, sweeps(what));
  }
  const T most_radius = options.rule == cutoff_rule::sum_of_radii ? options.cutoff / 2 : options.cutoff;
  const detail::gather_search_points<T, D> body{what,     buckets.view().elements, most_radius,
                                                faults(), records.data(),          split()};
  for_each(context, "search.gather", point_count, body);
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::enqueue_counts(const neighbor_input<T, D>& input) {
  detail::neighbor_search<T, D> what = search(input);
  what.cell_offsets = small() ? small_offsets.data() : buckets.view().offsets;
  if constexpr (cuda) {
    if (by_masks()) {
      detail::enqueue_masks(context, masks(what), counts.data());
    }
  } else if (by_sweeps()) {
    detail::count_by_sweeps(context, sweeps(what), counts.data());
  }
  if (!by_masks() && !by_sweeps())
    for_each(context, "search.count", rows, detail::count_row<T, D>{what, counts.data()});
  if (matrix()) return;
  exclusive_scan_with_total(context, counts.data(), offsets.data(), rows, scratch);
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::enqueue_entries(const neighbor_input<T, D>& input, bool refuse) {
  detail::neighbor_search<T, D> what = search(input);
  what.cell_offsets = small() ? small_offsets.data() : buckets.view().offsets;
  const detail::neighbor_sink<T, D> to = sink(refuse);
  if constexpr (cuda) {
    if (by_masks()) {
      detail::enqueue_entries_of_masks(context, masks(what), to);
    }
  } else if (by_sweeps()) {
    detail::fill_by_sweeps(context, sweeps(what), to);
  }
  if (!by_masks() && !by_sweeps()) for_each(context, "search.fill", rows, detail::fill_row<T, D>{what, to, rows});
  if (!options.sorted) return;
  detail::sort_rows(context, {to.offsets, to.counts, to.width, to.capacity, rows, to.keys});
  constexpr unsigned lanes = cuda ? 32 : 1;
  for_each(context, "search.expand", lanes * rows, detail::expand_row<T, D>{what, to, lanes});
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::enqueue_matrix_size() {
  const detail::matrix_row_size body{counts.data()};
  reduce_into(context, "search.size", rows, body, plus_operation{}, std::uint64_t{0}, control.data() + size_word,
              scratch);
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::build(const neighbor_input<T, D>& input) {
  state = stage::failed;
  failure = nullptr;
  replayed = false;
  prepare(input);
  if (rows == 0) fill_bytes(context, control.data() + size_word, 0, sizeof(std::uint64_t));
  enqueue_cells(input);
  if (matrix()) {
    if (by_masks()) enqueue_counts(input);
    enqueue_entries(input, true);
    enqueue_matrix_size();
    read_control();
    return;
  }
  enqueue_counts(input);
  if (capacity > 0) {
    enqueue_entries(input, false);
  } else {
    for_each(context, "search.size", 1, detail::report_size<T, D>{sink(false), rows});
  }
  read_control();
  if (size <= capacity) return;
  // The first time, or more pairs than ever: the counts stand, the entries follow.
  state = stage::failed;
  grow(size);
  if (grow_masks()) enqueue_counts(input);
  enqueue_entries(input, false);
  state = stage::built;
}

/// Rows that need more masks than there are room for would be searched twice. Says whether the counting must be done
/// again to fill the new room, which is at most that of the list.
template <typename Context, typename T, int D>
bool neighbor_list<Context, T, D>::implementation::grow_masks() {
  const std::uint64_t fair = size * sizeof(particle_id) / (rows * sizeof(detail::candidate_mask));
  const std::uint64_t wanted = std::min(most_masks, fair);
  if (wanted <= words_a_row) return false;
  words_a_row = static_cast<std::uint32_t>(wanted);
  mask_words.resize_discarding(context, wanted * rows);
  return true;
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::build_asynchronously(const neighbor_input<T, D>& input) {
  detail::check_neighbor_input(options, input);
  const std::size_t asked = input.queries.has_value() ? input.queries->count : input.points.count;
  require(!boxes.empty(), "build has not been called; it finds the memory that build_asynchronously works in");
  require(input.points.count == point_count && asked == rows, "there are ", input.points.count, " points and ", asked,
          " rows, but the last build had ", point_count, " and ", rows,
          "; build_asynchronously works in the memory of that build");
  require(same_boxes(boxes, input.boxes), "the boxes are not those of the last build; call build");
  last = input;
  last.boxes = {};
  failure = nullptr;
  enqueue_cells(input);
  if (!matrix() || by_masks()) enqueue_counts(input);
  enqueue_entries(input, true);
  if (matrix()) enqueue_matrix_size();
  state = stage::built;
  replayed = true;
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::read_control() {
  const std::uint64_t* words = mirror.read(context, control.data(), control_words);
  if (words[fault_word] != ~std::uint64_t{0}) fail(words);
  size = words[size_word];
  most_masks = words[masks_word];
  state = stage::built;
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::check() {
  if (replayed) {
    // A graph may have built the list again since.
    failure = nullptr;
    read_control();
  }
  if (failure != nullptr) std::rethrow_exception(failure);
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::fail(const std::uint64_t* words) {
  state = stage::failed;
  fill_bytes(context, control.data() + fault_word, 0xff, sizeof(std::uint64_t));
  fill_bytes(context, control.data() + needed_word, 0, sizeof(std::uint64_t));
  const auto kind = static_cast<fault_kind>(words[fault_word] & 0xff);
  const std::uint64_t number = words[fault_word] >> 8;
  const std::uint64_t needed = words[needed_word];
  try {
    if (kind != fault_kind::overflow) throw data_error(complaint(kind, number));
    if (matrix()) {
      throw overflow_error(
          message("a row of the neighbor matrix is ", options.width, " wide, but point ",
                  number - detail::list_fault_base, " has more neighbors; a width of ", needed, " would have sufficed"),
          needed);
    }
    throw overflow_error(message("the neighbor list has room for ", capacity, " pairs, but there are ", needed,
                                 "; call build or reserve"),
                         needed);
  } catch (...) {
    failure = std::current_exception();
    throw;
  }
}

template <typename Context, typename T, int D>
std::string neighbor_list<Context, T, D>::implementation::point_text(const points_view<T, D>& points, std::size_t i) {
  std::string text = "(";
  for (int axis = 0; axis < D; ++axis) {
    const T x = to_host(context, points.component[axis] + i * points.stride, 1)[0];
    text += (axis == 0 ? "" : ", ") + number_text(x);
  }
  return text + ")";
}

template <typename Context, typename T, int D>
std::string neighbor_list<Context, T, D>::implementation::complaint(fault_kind kind, std::uint64_t number) {
  const bool query = number >= detail::query_fault_base;
  const std::size_t i = query ? number - detail::query_fault_base : number;
  const char* what = query ? "query " : "point ";
  if (kind == fault_kind::key_range) {
    const std::uint32_t* of = query ? last.system_of_query : last.system_of_point;
    return message(what, i, " belongs to system ", to_host(context, of + i, 1)[0], "; there are ", boxes.size());
  }
  if (kind == fault_kind::value_range && options.rule == cutoff_rule::table_of_types) {
    return message(what, i, " has type ", to_host(context, last.types + i, 1)[0], "; the table has ",
                   detail::type_count(options), " types");
  }
  if (kind == fault_kind::value_range) {
    return message(what, i, " has radius ", to_host(context, last.radii + i, 1)[0], "; with a cutoff of ",
                   options.cutoff, " it must be from 0 to ",
                   options.rule == cutoff_rule::sum_of_radii ? options.cutoff / 2 : options.cutoff);
  }
  const std::string at = point_text(query ? *last.queries : last.points, i);
  if (kind == fault_kind::not_finite) return message(what, i, " at ", at, " has a coordinate that is not finite");
  return message(what, i, " at ", at, " lies outside of an open axis of its box, or more than ",
                 lattice<T, D>::most_boxes, " periods away");
}

template <typename Context, typename T, int D>
bool neighbor_list<Context, T, D>::implementation::has_moved(const neighbor_input<T, D>& input) {
  if (replayed) read_control();
  if (state != stage::built || input.points.count != remembered.size() || !same_boxes(boxes, input.boxes)) return true;
  detail::check_neighbor_input(options, input);
  fill_bytes(context, control.data() + moved_word, 0, sizeof(std::uint64_t));
  const T half = options.skin / 2;
  const detail::find_movers<T, D> body{search(input), remembered.data(), half * half, control.data() + moved_word};
  for_each(context, "search.find_movers", input.points.count, body);
  return mirror.read(context, control.data(), control_words)[moved_word] != 0;
}

template <typename Context, typename T, int D>
neighbor_list<Context, T, D>::neighbor_list(const Context& context, const neighbor_options<T>& options)
    : implementation_(std::make_unique<implementation>(context, options)) {}
template <typename Context, typename T, int D>
neighbor_list<Context, T, D>::neighbor_list(neighbor_list&&) noexcept = default;
template <typename Context, typename T, int D>
neighbor_list<Context, T, D>& neighbor_list<Context, T, D>::operator=(neighbor_list&&) noexcept = default;
template <typename Context, typename T, int D>
neighbor_list<Context, T, D>::~neighbor_list() = default;

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::build(const neighbor_input<T, D>& input) {
  implementation_->build(input);
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::build_asynchronously(const neighbor_input<T, D>& input) {
  implementation_->build_asynchronously(input);
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::reserve(std::size_t pairs) {
  implementation& list = *implementation_;
  if (list.options.layout == neighbor_layout::matrix || pairs <= list.capacity) return;
  list.grow(pairs);
  list.state = implementation::stage::empty;
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::check() {
  implementation_->check();
}

template <typename Context, typename T, int D>
bool neighbor_list<Context, T, D>::update(const neighbor_input<T, D>& input) {
  require(implementation_->options.skin > T(0), "the skin is 0; update needs one that is positive");
  if (!implementation_->has_moved(input)) return false;
  implementation_->build(input);
  return true;
}

template <typename Context, typename T, int D>
neighbor_list_view<T, D> neighbor_list<Context, T, D>::view() const {
  const implementation& list = *implementation_;
  using stage = typename implementation::stage;
  require(list.state != stage::empty, "nothing has been built yet; call build first");
  require(list.state != stage::failed, "the last build has failed; build again before using the list");
  const bool matrix = list.options.layout == neighbor_layout::matrix;
  return {list.rows,
          matrix ? list.options.width : 0,
          matrix ? nullptr : list.offsets.data(),
          list.counts.data(),
          list.neighbors.data(),
          list.options.layout == neighbor_layout::pairs ? list.first.data() : nullptr,
          list.options.squared_distances ? list.squared_distances.data() : nullptr,
          list.options.vectors ? list.vectors.data() : nullptr,
          list.options.shifts ? list.shifts.data() : nullptr};
}

template <typename Context, typename T, int D>
std::uint64_t neighbor_list<Context, T, D>::size() {
  check();
  static_cast<void>(view());
  return implementation_->size;
}

template <typename Context, typename T, int D>
std::string_view neighbor_list<Context, T, D>::method() const {
  return implementation_->method;
}

template <typename Context, typename T, int D>
std::string_view neighbor_list<Context, T, D>::reason() const {
  return implementation_->reason;
}

template <typename Context, typename T, int D>
std::size_t neighbor_list<Context, T, D>::bytes() const {
  return implementation_->bytes();
}

template <typename Context, typename T, int D>
const neighbor_options<T>& neighbor_list<Context, T, D>::options() const {
  return implementation_->options;
}

template class neighbor_list<backend_context, float, 2>;
template class neighbor_list<backend_context, float, 3>;
template class neighbor_list<backend_context, double, 2>;
template class neighbor_list<backend_context, double, 3>;

}  // namespace quadrat
