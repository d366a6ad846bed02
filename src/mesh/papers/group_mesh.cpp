// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/papers/group_mesh_engine.hpp"

#include "core/backend.hpp"
#include "mesh/sparse/memory.hpp"
#include "quadrat/parallel/scan.hpp"

namespace quadrat::detail {

template <typename Context, typename T>
std::size_t group_mesh_engine<Context, T>::bytes_needed(std::size_t count) const {
  const std::size_t entries = count * static_cast<std::size_t>(grid_.shape.footprint_size());
  return placed_points_engine<Context, T>::bytes_needed(count) + grid_.groups() * 2 * sizeof(std::uint64_t) +
         scan_bytes(grid_.groups()) + entries * (sizeof(T) + sizeof(std::uint32_t) + sizeof(std::uint16_t)) +
         (this->context().reproducibility() == determinism::none ? 0
                                                                 : piece_order<Context>::bytes_needed(grid_, count));
}

template <typename Context, typename T>
std::size_t group_mesh_engine<Context, T>::bytes() const {
  return placed_points_engine<Context, T>::bytes() + offsets_.bytes() + cursors_.bytes() + weights_.bytes() +
         columns_.bytes() + rows_.bytes() + order_.bytes() + scratch_.bytes();
}

template <typename Context, typename T>
void group_mesh_engine<Context, T>::set_points(const point_placement<T>& points) {
  placed_points_engine<Context, T>::set_points(points);
  const Context& context = this->context();
  const contribution_source<T> source{this->setup().shape, this->setup().window, this->points(), this->count()};
  const std::size_t groups = grid_.groups();
  offsets_.resize_discarding(context, groups + 1);
  cursors_.resize_discarding(context, groups);
  fill_bytes(context, cursors_.data(), 0, groups * sizeof(std::uint64_t));
  count_groups(context, source, grid_, cursors_.data());
  exclusive_scan_with_total(context, cursors_.data(), offsets_.data(), groups, scratch_);
  copy_bytes(context, offsets_.data(), cursors_.data(), groups * sizeof(std::uint64_t));
  const std::size_t entries = contribution_total(context, source, offsets_.data() + groups);
  weights_.resize_discarding(context, entries);
  columns_.resize_discarding(context, entries);
  rows_.resize_discarding(context, entries);
  piece_places places{cursors_.data(), nullptr, nullptr};
  if (context.reproducibility() != determinism::none) {
    order_.arrange(context, source.points, source.count, grid_, scratch_);
    places = order_.places();
  }
  insert_in_groups(context, source, grid_, places,
                   group_entries<T>{offsets_.data(), weights_.data(), columns_.data(), rows_.data()});
}

template <typename Context, typename T>
void group_mesh_engine<Context, T>::spread(const value_layout& layout, const T* values, T* mesh, bool accumulate) {
  const group_entries<T> entries{offsets_.data(), weights_.data(), columns_.data(), rows_.data()};
  const double average = static_cast<double>(weights_.size()) / static_cast<double>(grid_.groups());
  for_each_channel_pair(layout, values, mesh, accumulate, [&](const channel_pair<T>& channels) {
    multiply_groups(this->context(), grid_, entries, channels, average);
  });
}

template class group_mesh_engine<backend_context, float>;
template class group_mesh_engine<backend_context, double>;

}  // namespace quadrat::detail
