// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "cells/subject.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/context.hpp"

/// Hand-written walks that answer three questions. Does the path of a scattered load still matter? Does it matter where
/// the next pointer is stored, and how the matrix of fixed cells is laid out (uniform-grid-atomics, end of section 2
/// and section 1)?

namespace quadrat::bench {

/// How heads, links, slots and positions are read.
enum class read_path {
  texture,   ///< tex1Dfetch, as in the paper
  plain,     ///< ld.global
  read_only  ///< ld.global.nc, as by __ldg
};
inline constexpr std::array<std::string_view, 3> read_path_names{"texture", "plain", "read_only"};

/// How cells hold their particles.
enum class walk_layout {
  separate,      ///< linked lists, links in a separate array
  packed,        ///< linked lists, the link next to the position
  column_major,  ///< a matrix of fixed capacity, slot k of all cells contiguous
  row_major      ///< the same, slots of a cell contiguous
};
inline constexpr std::array<std::string_view, 4> walk_layout_names{"separate", "packed", "column_major", "row_major"};

/// Arrays in device memory, built by the library's cell lists.
struct walk_arrays {
  const void* records;          ///< position, and if packed the next particle: 16 bytes per particle
  std::size_t count;            ///< of particles
  const std::uint32_t* firsts;  ///< heads of the lists, or numbers of particles in the cells
  std::size_t cells;
  const std::uint32_t* entries;  ///< next particles, or slots; null if packed
  std::size_t entry_count;
  std::uint32_t capacity;  ///< of a fixed cell
};

/// Walks 27 cells for every particle, and writes the result. Constructed once for given arrays, then launched any
/// number of times.
class read_path_walk {
 public:
  virtual ~read_path_walk() = default;
  /// Does not wait.
  virtual void launch() = 0;
};

#if QUADRAT_HAS_CUDA
[[nodiscard]] std::unique_ptr<read_path_walk> make_read_path_walk(const cuda_context& context, read_path path,
                                                                  walk_layout layout, const grid<float, 3>& space,
                                                                  float cutoff, const walk_arrays& arrays,
                                                                  walk_result<float>* results);
#endif

}  // namespace quadrat::bench
