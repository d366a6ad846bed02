// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "quadrat/core/context.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/for_each_part.hpp"
#include "quadrat/parallel/reduce.hpp"
#include "quadrat/search/interaction.hpp"
#include "quadrat/search/listed_pairs.hpp"
#include "quadrat/search/neighbor_list.hpp"
#include "quadrat/search/pair_pages.hpp"
#include "quadrat/search/visit.hpp"

/// Forces from a neighbor list: the functions of visit.hpp over the entries of a list, for molecular dynamics. In each
/// step call list.update(points), and then one of these:
///
///     list.update(points);
///     accumulate_pairs(list, forces, [=] QUADRAT_HD(particle_id, particle_id, const vec<T, 3>& r, T rr) {...});
///
/// They visit the pairs that are currently nearer than the cutoff, without those of the skin, and with the radii and
/// types of the list's rule. Points, radii and types are copies from the last build or update. Later changes of the
/// caller's arrays have no effect before the next update, so a result always belongs to one update.
///
/// The functor is host-device and is called as f(i, j, separation, squared_distance): two indices of the caller's
/// points, the vector from i to the image of j that is listed, and its squared length. A full list calls it for (i, j)
/// and for (j, i), a half list for one of the two, and each image in a small box is a separate pair. Different threads
/// call it concurrently for different i.
///
/// Work runs in the list's context; results are in the memory of that context, and `result` has one element per point.
/// On a GPU the source must be compiled by nvcc. All throw what neighbor_list::pairs throws.
///
/// Gathering points takes most of the time if neighbors are far apart in memory: keep points in the order of cells
/// (for instance by sort_pairs with morton keys) and sort them again every few hundred steps.

namespace quadrat {

namespace detail {

/// GPU threads that share a row. Adjacent neighbors in a row are often adjacent in memory, so their loads
/// coalesce.
inline constexpr unsigned pair_lanes = 4;
/// Entries whose points a GPU thread loads at once, so that loads overlap and latency does not limit. More would cost
/// registers. Only for the common kinds of rows, because the functor is inlined for each.
template <image_kind Kind, bool Uniform>
inline constexpr unsigned pair_batch =
    Uniform && (Kind == image_kind::same || Kind == image_kind::orthorhombic) ? 2 : 1;

[[nodiscard]] inline unsigned lanes_of(const cpu_context& /*context*/) { return 1; }
[[nodiscard]] inline unsigned lanes_of(const cuda_context& /*context*/) { return pair_lanes; }

template <image_kind Kind, bool Uniform, typename T, int D>
[[nodiscard]] std::size_t select_pairs(const listed_pairs<T, D>& list, const pair_row<T, D>& row, std::uint64_t begin,
                                       std::uint64_t end, selected_pairs<T, D>& out) {
  if constexpr (Uniform && (Kind == image_kind::same || Kind == image_kind::orthorhombic)) {
    if (list.select != nullptr) return list.select(row.template selection<Kind>(begin), end - begin, out);
  }
  std::size_t count = 0;
  for (std::uint64_t entry = begin; entry < end; ++entry) {
    const particle_id j = list.neighbors[entry];
    const pair_point<T, D>& point = list.points[j];
    const vec<T, D> r = row.template separation<Kind>(entry, j, point.position);
    const T squared = squared_norm(r);
    out.j[count] = j;
    for (int axis = 0; axis < D; ++axis) out.separation[axis][count] = r[axis];
    out.squared[count] = squared;
    count += static_cast<std::size_t>(squared < row.template squared_cutoff<Uniform>(point.property));
  }
  return count;
}

/// Calls visit(j, separation, squared distance) for the pairs of a row nearer than their cutoff, in the order of the
/// list; on a GPU for the pairs of one of its lanes.
QUADRAT_CALLS_ANY
template <image_kind Kind, bool Uniform, typename T, int D, typename Visit>
QUADRAT_HD void visit_pairs(const listed_pairs<T, D>& list, const pair_row<T, D>& row, std::uint64_t begin,
                            std::uint64_t end, [[maybe_unused]] unsigned lane, Visit&& visit) {
#if defined(__CUDA_ARCH__)
  constexpr unsigned batch = pair_batch<Kind, Uniform>;
  const particle_id* const neighbors = list.neighbors + begin;
  const auto length = static_cast<unsigned>(end - begin);
  particle_id next[batch] = {};  // loaded a round ahead
  QUADRAT_UNROLL
  for (unsigned k = 0; k < batch; ++k) {
    const unsigned entry = lane + k * pair_lanes;
    if (length > 0) next[k] = neighbors[entry < length ? entry : 0];
  }
  for (unsigned first = lane; first < length; first += batch * pair_lanes) {
    particle_id j[batch];
    pair_point<T, D> point[batch];
    QUADRAT_UNROLL
    for (unsigned k = 0; k < batch; ++k) {
      j[k] = next[k];
      point[k] = list.points[j[k]];
    }
    QUADRAT_UNROLL
    for (unsigned k = 0; k < batch; ++k) {
      const unsigned entry = first + (batch + k) * pair_lanes;
      next[k] = neighbors[entry < length ? entry : 0];
    }
    QUADRAT_UNROLL
    for (unsigned k = 0; k < batch; ++k) {
      const unsigned entry = first + k * pair_lanes;
      const vec<T, D> r = row.template separation<Kind>(begin + entry, j[k], point[k].position);
      const T squared = squared_norm(r);
      const bool within = squared < row.template squared_cutoff<Uniform>(point[k].property);
      if (entry < length && within) visit(j[k], r, squared);
    }
  }
#else
  selected_pairs<T, D> some;
  for (std::uint64_t first = begin; first < end; first += some.most) {
    const std::uint64_t last = end - first < some.most ? end : first + some.most;
    const std::size_t count = select_pairs<Kind, Uniform>(list, row, first, last, some);
    for (std::size_t k = 0; k < count; ++k) {
      visit(some.j[k], make_vec<T, D>([&](int axis) { return some.separation[axis][k]; }), some.squared[k]);
    }
  }
#endif
}

/// The same for any row.
QUADRAT_CALLS_ANY
template <bool Uniform, typename T, int D, typename Visit>
QUADRAT_HD void visit_row_by_kind(const listed_pairs<T, D>& list, std::size_t i, unsigned lane, Visit&& visit) {
  const pair_row<T, D> row(list, i);
  const std::uint64_t begin = row.begin(i), end = row.end(i);
  switch (row.kind()) {
    case image_kind::same:
      return visit_pairs<image_kind::same, Uniform>(list, row, begin, end, lane, visit);
    case image_kind::orthorhombic:
      return visit_pairs<image_kind::orthorhombic, Uniform>(list, row, begin, end, lane, visit);
    case image_kind::triclinic:
      return visit_pairs<image_kind::triclinic, Uniform>(list, row, begin, end, lane, visit);
    case image_kind::shifted:
      return visit_pairs<image_kind::shifted, Uniform>(list, row, begin, end, lane, visit);
  }
}

QUADRAT_CALLS_ANY
template <typename T, int D, typename Visit>
QUADRAT_HD void visit_row(const listed_pairs<T, D>& list, std::size_t i, unsigned lane, Visit&& visit) {
  if (list.rule == cutoff_rule::uniform) {
    visit_row_by_kind<true>(list, i, lane, visit);
  } else {
    visit_row_by_kind<false>(list, i, lane, visit);
  }
}

/// The sum of the values of a row's lanes, in a fixed order. On a GPU only lane 0 gets it.
template <typename Sum>
[[nodiscard]] QUADRAT_HD Sum sum_of_lanes(Sum value) {
#if defined(__CUDA_ARCH__)
  static_assert(std::is_trivially_copyable_v<Sum> && sizeof(Sum) % sizeof(unsigned) == 0,
                "quadrat: sums must be trivially copyable, of a multiple of 4 bytes");
  const unsigned lanes = ((1u << pair_lanes) - 1) << (threadIdx.x % 32 / pair_lanes * pair_lanes);
  for (unsigned step = pair_lanes / 2; step > 0; step /= 2) {
    unsigned words[sizeof(Sum) / sizeof(unsigned)];
    memcpy(words, &value, sizeof(Sum));
    for (unsigned& word : words) word = __shfl_xor_sync(lanes, word, step);
    Sum other{};
    memcpy(&other, words, sizeof(Sum));
    value += other;
  }
#endif
  return value;
}

/// Index of the following: row * lanes + lane.
template <typename T, int D, typename F>
struct visit_listed_pairs {
  listed_pairs<T, D> list;
  unsigned lanes;
  F f;

  QUADRAT_HD void operator()(std::size_t index) const {
    const auto i = static_cast<particle_id>(index / lanes);
    visit_row(list, i, static_cast<unsigned>(index % lanes),
              [&](particle_id j, const vec<T, D>& separation, T squared) { f(i, j, separation, squared); });
  }
};

template <typename T, int D, typename Sum, typename F>
struct accumulate_rows_of {
  listed_pairs<T, D> list;
  unsigned lanes;
  Sum* result;
  F f;

  QUADRAT_HD void operator()(std::size_t index) const {
    const auto i = static_cast<particle_id>(index / lanes);
    Sum sum{};
    visit_row(list, i, static_cast<unsigned>(index % lanes),
              [&](particle_id j, const vec<T, D>& separation, T squared) { sum += f(i, j, separation, squared); });
    sum = sum_of_lanes(sum);
    if (index % lanes == 0) result[i] = sum;
  }
};

/// The sum of i stays in registers until its row is over; additions to j go to memory one by one.
template <typename T, int D, typename Sum, typename F>
struct accumulate_half_rows_of {
  listed_pairs<T, D> list;
  unsigned lanes;
  Sum* result;
  F f;

  QUADRAT_HD void operator()(std::size_t index) const {
    const auto i = static_cast<particle_id>(index / lanes);
    Sum sum{};
    visit_row(list, i, static_cast<unsigned>(index % lanes),
              [&](particle_id j, const vec<T, D>& separation, T squared) {
                const Sum term = f(i, j, separation, squared);
                sum += term;
                atomic_accumulate(result + j, reaction(term));
              });
    sum = sum_of_lanes(sum);
    if (index % lanes == 0) atomic_accumulate(result + i, sum);
  }
};

template <typename T, int D, typename Sum, typename F>
void accumulate_half(const cuda_context& context, const listed_pairs<T, D>& list, pair_memory<cuda_context>& /*memory*/,
                     Sum* result, const F& f) {
  require(context.reproducibility() == determinism::none,
          "sums of a half list are not reproducible on a GPU: additions come in any order; make a full list, or a "
          "context that does not ask for reproducible results");
  const unsigned lanes = lanes_of(context);
  for_each(context, "search.clear_sums", list.rows, clear_sum<Sum>{result});
  for_each(context, "search.accumulate_half", lanes * list.rows,
           accumulate_half_rows_of<T, D, Sum, F>{list, lanes, result, f});
}

/// Sums one part of the rows of a half list, on one thread. Additions to points of other parts go to the part's pages.
template <typename T, int D, typename Sum, typename F>
struct accumulate_part_of {
  listed_pairs<T, D> list;
  pair_pages pages;
  Sum* result;
  Sum* sums;
  const F& f;

  void operator()(std::size_t part) const {
    const pair_pages::range own = pages.rows_of(part);
    for (std::size_t i = own.first; i < own.last; ++i) result[i] = Sum{};
    const pair_pages::range extra = pages.sums_of(part);
    for (std::size_t k = extra.first; k < extra.last; ++k) sums[k] = Sum{};
    for (std::size_t row = own.first; row < own.last; ++row) {
      const auto i = static_cast<particle_id>(row);
      Sum sum{};
      visit_row(list, i, 0, [&](particle_id j, const vec<T, D>& separation, T squared) {
        const Sum term = f(i, j, separation, squared);
        sum += term;
        Sum* const target = j - own.first < own.last - own.first ? result + j : sums + pages.place_of(part, j);
        *target += reaction(term);
      });
      result[i] += sum;
    }
  }
};

/// Adds the sums of other parts for the points of one page, in the order of the parts.
template <typename Sum>
struct add_pages {
  pair_pages pages;
  std::size_t rows;
  Sum* result;
  const Sum* sums;

  void operator()(std::size_t page) const {
    const std::size_t first = page * pair_pages::page_size;
    const std::size_t last = first + pair_pages::page_size < rows ? first + pair_pages::page_size : rows;
    for (std::size_t part = 0; part < pages.parts; ++part) {
      if (!pages.has(part, page)) continue;
      const Sum* from = sums + pages.place_of(part, first);
      for (std::size_t i = first; i < last; ++i) result[i] += from[i - first];
    }
  }
};

template <typename T, int D, typename Sum, typename F>
void accumulate_half(const cpu_context& context, const listed_pairs<T, D>& list, pair_memory<cpu_context>& memory,
                     Sum* result, const F& f) {
  const pair_pages pages = pages_of(context, list, memory);
  static_assert(std::is_trivially_copyable_v<Sum> && alignof(Sum) <= 64, "sums are kept in raw memory");
  Sum* sums = reinterpret_cast<Sum*>(memory.sums.request(context, memory.page_count * sizeof(Sum)));
  for_each_part(context.threads(), pages.parts, accumulate_part_of<T, D, Sum, F>{list, pages, result, sums, f});
  if (pages.parts > 1) {
    for_each(context, "search.add_pages", pages.pages, add_pages<Sum>{pages, list.rows, result, sums});
  }
}

template <typename Sum>
struct read_sum {
  const Sum* result;
  QUADRAT_HD Sum operator()(std::size_t i) const { return result[i]; }
};

}  // namespace detail

/// Calls f for every pair of the list. Does not wait. Allocates nothing. Can be captured.
template <typename Context, typename T, int D, typename F>
void for_each_pair_async(neighbor_list<Context, T, D>& list, const F& f) {
  const detail::listed_pairs<T, D> pairs = detail::list_access::pairs(list);
  const unsigned lanes = detail::lanes_of(list.context());
  for_each(list.context(), "search.for_each_pair", lanes * pairs.rows,
           detail::visit_listed_pairs<T, D, F>{pairs, lanes, f});
}
/// The same. Waits. Allocates nothing.
template <typename Context, typename T, int D, typename F>
void for_each_pair(neighbor_list<Context, T, D>& list, const F& f) {
  for_each_pair_async(list, f);
  list.context().synchronize();
}

/// result[i] = the sum of f over the neighbors j of i, for every point; Sum{} without neighbors. `Sum` is a trivially
/// copyable type with +=, and zero as Sum{}: numbers, vec, interaction; on a GPU of a multiple of 4 bytes. Does not
/// wait. Allocates nothing. Can be captured. Throws argument_error for a half list.
///
/// Determinism: each row is summed in a fixed order, without atomics: run_to_run, for any number of threads, if the
/// list's context requires it.
template <typename Context, typename T, int D, typename Sum, typename F>
void accumulate_neighbors_async(neighbor_list<Context, T, D>& list, Sum* result, const F& f) {
  const detail::listed_pairs<T, D> pairs = detail::list_access::pairs(list);
  require(!pairs.half, "accumulate_neighbors needs a full list, and this is a half list; use accumulate_pairs");
  require_pointer(result, pairs.rows, "sums");
  const unsigned lanes = detail::lanes_of(list.context());
  for_each(list.context(), "search.accumulate", lanes * pairs.rows,
           detail::accumulate_rows_of<T, D, Sum, F>{pairs, lanes, result, f});
}

/// The same for interactions, f(j, i) = reaction(f(i, j)), from full and half lists. With a half list f is called once
/// per pair, and its reaction is added to result[j]. Types of your own need a function `reaction`, found by their
/// namespace, and on a GPU atomic_accumulate(Sum* target, const Sum& value). Does not wait. Allocates nothing, but the
/// first time over half lists on a CPU. Can be captured.
///
/// Determinism: with a full list like accumulate_neighbors. With a half list on a CPU run_to_run, for any number of
/// threads, if the list's context requires it. On a GPU half lists are summed by atomic additions in any order: throws
/// argument_error if the context requires more. There a full list is also faster.
template <typename Context, typename T, int D, typename Sum, typename F>
void accumulate_pairs_async(neighbor_list<Context, T, D>& list, Sum* result, const F& f) {
  const detail::listed_pairs<T, D> pairs = detail::list_access::pairs(list);
  if (!pairs.half) return accumulate_neighbors_async(list, result, f);
  require_pointer(result, pairs.rows, "sums");
  detail::accumulate_half(list.context(), pairs, detail::list_access::memory(list), result, f);
}

/// The same, and *total = the sum of result[i] over all points, always added in the same order. `total` is memory of
/// the list's context. For instance the energy and the virial of the system, with `interaction` as Sum. Sum needs +.
/// Does not wait. Allocates nothing, but the first time for a list. Can be captured after that.
template <typename Context, typename T, int D, typename Sum, typename F>
void accumulate_pairs_async(neighbor_list<Context, T, D>& list, Sum* result, Sum* total, const F& f) {
  require_pointer(total, 1, "totals");
  accumulate_pairs_async(list, result, f);
  reduce_into(list.context(), "search.total", list.view().rows, detail::read_sum<Sum>{result}, plus_operation{}, Sum{},
              total, detail::list_access::memory(list).scratch);
}

/// The same for a container or span, whose length is checked: one result for each point.
template <typename Context, typename T, int D, results_of_points Results, typename F>
void accumulate_neighbors_async(neighbor_list<Context, T, D>& list, Results&& results, const F& f) {
  accumulate_neighbors_async(list, detail::checked_results(results, list.view().rows), f);
}
template <typename Context, typename T, int D, results_of_points Results, typename F>
void accumulate_pairs_async(neighbor_list<Context, T, D>& list, Results&& results, const F& f) {
  accumulate_pairs_async(list, detail::checked_results(results, list.view().rows), f);
}
template <typename Context, typename T, int D, results_of_points Results, typename Sum, typename F>
void accumulate_pairs_async(neighbor_list<Context, T, D>& list, Results&& results, Sum* total, const F& f) {
  accumulate_pairs_async(list, detail::checked_results(results, list.view().rows), total, f);
}

/// The same functions, to a pointer, container or span. Wait. Allocate nothing, but the first time for a list.
template <typename Context, typename T, int D, typename Results, typename F>
void accumulate_neighbors(neighbor_list<Context, T, D>& list, Results&& results, const F& f) {
  accumulate_neighbors_async(list, results, f);
  list.context().synchronize();
}
template <typename Context, typename T, int D, typename Results, typename F>
void accumulate_pairs(neighbor_list<Context, T, D>& list, Results&& results, const F& f) {
  accumulate_pairs_async(list, results, f);
  list.context().synchronize();
}
template <typename Context, typename T, int D, typename Results, typename Sum, typename F>
void accumulate_pairs(neighbor_list<Context, T, D>& list, Results&& results, Sum* total, const F& f) {
  accumulate_pairs_async(list, results, total, f);
  list.context().synchronize();
}

}  // namespace quadrat
