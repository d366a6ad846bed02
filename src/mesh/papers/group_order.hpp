// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "mesh/papers/group_mesh.hpp"

namespace quadrat::detail {

/// Most pieces that a footprint is cut into.
[[nodiscard]] std::size_t most_pieces(const group_grid& grid);

/// Destinations of pieces that do not depend on timing: within each group, pieces are in the order of their points. A
/// stable sort by group costs little compared with writing the contributions.
template <typename Context>
class piece_order {
 public:
  /// Throws argument_error when there might be more pieces than can be sorted.
  [[nodiscard]] static std::size_t bytes_needed(const group_grid& grid, std::size_t count);
  /// Synchronizes.
  template <typename T>
  void arrange(const Context& context, const placed_point<T>* points, std::size_t count, const group_grid& grid,
               workspace<Context>& scratch);
  [[nodiscard]] piece_places places() const { return {nullptr, first_.data(), base_.data()}; }
  [[nodiscard]] std::size_t bytes() const;

 private:
  array<std::uint32_t, Context> first_;    ///< of each point: its first piece; and the end
  array<std::uint32_t, Context> keys_[2];  ///< groups
  array<std::uint32_t, Context> ids_[2];
  array<std::uint32_t, Context> lengths_;
  array<std::uint64_t, Context> sorted_base_;
  array<std::uint64_t, Context> base_;
};

}  // namespace quadrat::detail
