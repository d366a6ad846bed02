// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/search/cutoff_rule.hpp"

/// Tests one point against many, on a CPU's vector units.
namespace quadrat::detail {

/// Candidates tested at a time; their number is rounded up to a multiple of this.
inline constexpr std::size_t lanes_a_step = 8;
/// The most candidates of a chunk.
inline constexpr std::size_t lanes_a_chunk = 512;

/// Candidates by component, aligned to 64 bytes.
template <typename T, int D>
struct candidate_lanes {
  /// With room at the end for copies of whole steps.
  alignas(64) T position[D][lanes_a_chunk + lanes_a_step];
  alignas(64) T radius[lanes_a_chunk + lanes_a_step];  ///< for rules with radii
};

/// One point against the candidates [first, last), both multiples of lanes_a_step: bit k of the words says that
/// candidate first + k is nearer than the root of `squared_reach`. Bits beyond the last are 0. Returns the number of
/// set bits. Compares exactly the squared norm of neighbor_search::separation.
template <typename T, int D>
using test_lanes_function = unsigned (*)(const candidate_lanes<T, D>& candidates, std::size_t first, std::size_t last,
                                         const vec<T, D>& from, const vec<T, D>& translation, T squared_reach,
                                         std::uint64_t* words);

/// The radius of a row's point, and the rule that combines it with a candidate's radius (cutoff_of_radii).
template <typename T>
struct row_radius {
  T radius;
  T skin;
};

/// The same for candidates with radii: the cutoff of each is the sum of two radii, or the larger one.
template <typename T, int D>
using test_radii_function = unsigned (*)(const candidate_lanes<T, D>& candidates, std::size_t first, std::size_t last,
                                         const vec<T, D>& from, const vec<T, D>& translation, const row_radius<T>& row,
                                         std::uint64_t* words);

/// The box around some points, and the largest of their radii, for rules with radii.
template <typename T, int D>
struct reach_of_block {
  vec<T, D> lower;
  vec<T, D> upper;
  row_radius<T> largest;
};

/// Slots that follow each other, by component; as many as a step can be read after the last.
template <typename T>
struct slot_run {
  const T* coordinates;
  std::size_t stride;
  const T* radii;
  const particle_id* ids;
  std::size_t count;
  std::size_t own_first, own_last;  ///< slots of the block itself
};

/// Appends to the lanes and ids, from `to` on, the slots whose images by `translation` can be neighbors of a point of
/// the block, and the block's own slots, in order. Returns one past the last; may overwrite one step beyond. Rounds
/// like the tests, so that no pair is lost.
template <typename T, int D>
using pick_lanes_function = std::size_t (*)(const slot_run<T>& slots, const reach_of_block<T, D>& block,
                                            const vec<T, D>& translation, candidate_lanes<T, D>& lanes,
                                            particle_id* ids, std::size_t to);

/// Writes ids[k] for each bit k of the words below `lanes`, a multiple of lanes_a_step, in order. `out` needs room for
/// ids_beyond more than the set bits, and `ids` must be readable up to ids_beyond past `lanes`.
using pick_ids_function = void (*)(const particle_id* ids, std::size_t lanes, const std::uint64_t* words,
                                   particle_id* out);
inline constexpr std::size_t ids_beyond = 16;

/// Clears bit k of the words, below `lanes`, a multiple of lanes_a_step, unless ids[k] is `least` or larger. Returns
/// the number of bits left.
using keep_ids_function = unsigned (*)(const particle_id* ids, std::size_t lanes, particle_id least,
                                       std::uint64_t* words);

/// Moves those of `count` ids that are `least` or larger to the front, in order. Returns their number. There must be
/// room for ids_beyond more.
using sift_ids_function = unsigned (*)(particle_id* ids, unsigned count, particle_id least);

/// Copies to memory that will not be read soon. Whole cache lines bypass the caches, so that they are not read before
/// they are written. Call finish_streaming in the same thread before others read what was written.
void copy_streaming(void* to, const void* from, std::size_t bytes);
void finish_streaming();

/// The variants that this CPU can run, fastest first.
template <typename T, int D>
[[nodiscard]] std::vector<test_lanes_function<T, D>> test_lanes_functions();
template <typename T, int D>
[[nodiscard]] std::vector<test_radii_function<T, D>> test_radii_functions(bool larger);
/// nullptr for one cutoff, and on CPUs without an instruction for it.
template <typename T, int D>
[[nodiscard]] pick_lanes_function<T, D> pick_lanes(cutoff_rule rule);
[[nodiscard]] std::vector<pick_ids_function> pick_ids_functions();
[[nodiscard]] std::vector<keep_ids_function> keep_ids_functions();
[[nodiscard]] std::vector<sift_ids_function> sift_ids_functions();

}  // namespace quadrat::detail
