// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "quadrat/cells/carry.hpp"
#include "quadrat/cells/grid_cells.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/core/views.hpp"

namespace quadrat::bench {

/// A count and a sum of hashes: both are independent of the order.
struct tally {
  std::uint64_t count = 0;
  std::uint64_t hashes = 0;

  friend QUADRAT_HD tally operator+(const tally& a, const tally& b) { return {a.count + b.count, a.hashes + b.hashes}; }
  friend bool operator==(const tally& a, const tally& b) { return a.count == b.count && a.hashes == b.hashes; }
};

/// The result of a walk for each particle: the model's spring force in units of its constant, and the number of
/// neighbors.
template <typename T>
struct alignas(4 * sizeof(T)) walk_result {
  vec<T, 3> force;
  T neighbors;
};

/// A 3D cell list with a method chosen by name. Its functions are those of the cell list, and do not wait.
template <typename Context, typename T>
class cell_subject {
 public:
  virtual ~cell_subject() = default;
  virtual void build(const points_view<T, 3>& points) = 0;
  virtual void check() = 0;
  [[nodiscard]] virtual std::size_t bytes() const = 0;

  /// Whether build_and_carry is possible; otherwise it throws argument_error.
  [[nodiscard]] virtual bool carries() const = 0;
  virtual void build_and_carry(const points_view<T, 3>& points, std::span<const carried_array> arrays) = 0;

  /// Finds the neighbors of every particle within the cutoff. Does not wait.
  virtual void walk(const points_view<T, 3>& points, T cutoff, walk_result<T>* results) = 0;

  /// The particles in the cells, each counted once. Waits.
  [[nodiscard]] virtual tally contents() = 0;
  /// The pairs (i, neighbor of i) for `samples` particles i, spread evenly over all ids. Waits.
  [[nodiscard]] virtual tally neighbors(const points_view<T, 3>& points, T cutoff, std::size_t samples) = 0;
};

/// Throws argument_error for an unknown name.
template <typename Context, typename T>
[[nodiscard]] std::unique_ptr<cell_subject<Context, T>> make_cell_subject(std::string_view method,
                                                                          const Context& context,
                                                                          const grid<T, 3>& space,
                                                                          const cell_list_options<T>& options);

/// What `contents` must give for particles 0 to n - 1.
[[nodiscard]] tally expected_contents(std::size_t n);

/// The hash that tallies add up.
[[nodiscard]] QUADRAT_HD inline std::uint64_t pair_hash(std::uint32_t a, std::uint32_t b) {
  std::uint64_t word = (static_cast<std::uint64_t>(a) << 32 | b) + 0x9e3779b97f4a7c15u;
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
  return word ^ (word >> 31);
}

}  // namespace quadrat::bench
