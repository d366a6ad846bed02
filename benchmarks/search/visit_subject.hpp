// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "quadrat/core/box.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/views.hpp"

namespace quadrat::bench {

/// Counts the neighbors of every point, with a cell list and an order chosen by name. Does not wait.
template <typename Context>
class visit_subject {
 public:
  virtual ~visit_subject() = default;
  /// Builds the cell list and writes the number of neighbors of each point, by its index.
  virtual void count(const points_view<float, 3>& points, float cutoff, std::uint32_t* counts) = 0;
  virtual void check() = 0;
  /// Whether `count` waits, so that a graph cannot capture it.
  [[nodiscard]] virtual bool waits() const { return false; }
  [[nodiscard]] virtual std::size_t bytes() const = 0;
};

/// By accumulate_neighbors over the points, which builds cells in each call.
template <typename Context>
[[nodiscard]] std::unique_ptr<visit_subject<Context>> make_visit_of_points(const Context& context,
                                                                           const box<float, 3>& domain);

/// Where the walk reads positions: by index from the caller's array, or from records that were copied into slot order
/// before.
enum class visit_storage { points, slots };

/// nullptr if the order cannot walk the cell list, or if the cell list has no slots to read from.
template <typename Context>
[[nodiscard]] std::unique_ptr<visit_subject<Context>> make_visit_subject(std::string_view order,
                                                                         std::string_view cell_list,
                                                                         visit_storage storage, const Context& context,
                                                                         const grid<float, 3>& space);

}  // namespace quadrat::bench
