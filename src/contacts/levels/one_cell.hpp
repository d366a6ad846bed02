// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "contacts/engine.hpp"
#include "contacts/levels/grids.hpp"
#include "contacts/levels/search.hpp"
#include "quadrat/cells/counting.hpp"
#include "quadrat/core/array.hpp"

namespace quadrat::detail {

/// Bodies in one cell each, in the order of cells: shared by levels and loose_grid, which plan the levels.
template <typename Context, typename T>
class one_cell_engine : public row_engine<one_cell_engine<Context, T>, Context, T> {
 public:
  using row_engine<one_cell_engine<Context, T>, Context, T>::row_engine;

  void insert(const placed_bodies<Context, T>& bodies);
  [[nodiscard]] std::size_t rows() const { return count_; }
  [[nodiscard]] level_search<T> search() const { return {levels_, buckets_.view().offsets, slots_.data(), largest_}; }
  [[nodiscard]] std::size_t bytes() const override { return buckets_.bytes() + slots_.bytes(); }

 protected:
  level_grids<T> levels_{};

 private:
  std::size_t count_ = 0;
  const std::uint64_t* largest_ = nullptr;
  counting_buckets<Context> buckets_;
  array<placed_body<T>, Context> slots_;
};

}  // namespace quadrat::detail
