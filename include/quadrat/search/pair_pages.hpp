// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "quadrat/core/context.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/parallel/for_each_part.hpp"
#include "quadrat/search/listed_pairs.hpp"

/// Half lists on a CPU: the rows are cut into parts, and one thread sums each part. A part's contributions to points of
/// other parts go to separate pages, which are added afterwards in the order of the parts. Only pages in which a part
/// has neighbors exist; with points in the order of cells these are few.
namespace quadrat::detail {

struct pair_pages {
  static constexpr std::size_t page_size = 64;  ///< points
  static constexpr std::uint32_t none = 0xffffffffu;

  struct range {
    std::size_t first, last;
  };

  std::size_t rows;
  std::size_t parts;
  std::size_t pages;          ///< of all points
  std::uint32_t* slots;       ///< [part][page]: number of the stored page, or none
  std::uint64_t* first_slot;  ///< parts + 1

  [[nodiscard]] range rows_of(std::size_t part) const { return {part * rows / parts, (part + 1) * rows / parts}; }
  /// The sums of a part's pages.
  [[nodiscard]] range sums_of(std::size_t part) const {
    if (parts == 1) return {0, 0};
    return {page_size * first_slot[part], page_size * first_slot[part + 1]};
  }
  [[nodiscard]] bool has(std::size_t part, std::size_t page) const { return slots[part * pages + page] != none; }
  [[nodiscard]] std::size_t place_of(std::size_t part, std::size_t j) const {
    return page_size * slots[part * pages + j / page_size] + j % page_size;
  }
};

/// The number of threads; if results must not depend on it, a number that depends on the rows alone.
[[nodiscard]] inline std::size_t part_count(const cpu_context& context, std::size_t rows) {
  constexpr std::size_t least_rows = 2048, most_parts = 32;
  const std::size_t wanted =
      context.reproducibility() == determinism::none ? static_cast<std::size_t>(context.threads()) : most_parts;
  return std::clamp<std::size_t>(rows / least_rows, 1, wanted);
}

/// Marks the pages of other parts in which a part has neighbors.
template <typename T, int D>
struct mark_pages {
  const listed_pairs<T, D>& list;
  pair_pages pages;

  void operator()(std::size_t part) const {
    const pair_pages::range own = pages.rows_of(part);
    std::uint32_t* marks = pages.slots + part * pages.pages;
    std::fill(marks, marks + pages.pages, pair_pages::none);
    for (std::size_t i = own.first; i < own.last; ++i) {
      const pair_row<T, D> row(list, i);
      for (std::uint64_t entry = row.begin(i); entry < row.end(i); ++entry) {
        const particle_id j = list.neighbors[entry];
        if (j < own.first || j >= own.last) marks[j / pair_pages::page_size] = 0;
      }
    }
  }
};

/// The pages of a list, found once per build.
template <typename T, int D>
[[nodiscard]] pair_pages pages_of(const cpu_context& context, const listed_pairs<T, D>& list,
                                  pair_memory<cpu_context>& memory) {
  pair_pages result{list.rows, part_count(context, list.rows), 0, nullptr, nullptr};
  memory.page_count = result.parts == 1 ? 0 : memory.page_count;
  if (result.parts == 1) return result;
  result.pages = (list.rows + pair_pages::page_size - 1) / pair_pages::page_size;
  const std::size_t slot_bytes = aligned_bytes(result.parts * result.pages * sizeof(std::uint32_t));
  std::byte* bytes = memory.pages.request(context, slot_bytes + (result.parts + 1) * sizeof(std::uint64_t));
  result.slots = reinterpret_cast<std::uint32_t*>(bytes);
  result.first_slot = reinterpret_cast<std::uint64_t*>(bytes + slot_bytes);
  if (memory.version == list.version) return result;
  for_each_part(context.threads(), result.parts, mark_pages<T, D>{list, result});
  std::uint32_t used = 0;
  for (std::size_t part = 0; part < result.parts; ++part) {
    result.first_slot[part] = used;
    for (std::size_t page = 0; page < result.pages; ++page) {
      std::uint32_t& slot = result.slots[part * result.pages + page];
      if (slot != pair_pages::none) slot = used++;
    }
  }
  result.first_slot[result.parts] = used;
  memory.page_count = used * pair_pages::page_size;
  memory.version = list.version;
  return result;
}

}  // namespace quadrat::detail
