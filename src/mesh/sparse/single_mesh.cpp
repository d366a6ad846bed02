// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/sparse/single_mesh.hpp"

#include "core/backend.hpp"
#include "mesh/sparse/memory.hpp"
#include "quadrat/parallel/scan.hpp"

namespace quadrat::detail {

template <typename Context, typename T>
std::size_t single_mesh_engine<Context, T>::bytes_needed(std::size_t count) const {
  const mesh_shape& shape = this->setup().shape;
  require_row_counts(shape, count);
  return placed_points_engine<Context, T>::bytes_needed(count) +
         shape.size() * (sizeof(std::uint32_t) + sizeof(std::uint64_t)) + scan_bytes(shape.size()) +
         count * static_cast<std::size_t>(shape.footprint_size()) * sizeof(mesh_entry<T>);
}

template <typename Context, typename T>
std::size_t single_mesh_engine<Context, T>::bytes() const {
  return placed_points_engine<Context, T>::bytes() + counts_.bytes() + offsets_.bytes() + entries_.bytes() +
         scratch_.bytes();
}

template <typename Context, typename T>
void single_mesh_engine<Context, T>::set_points(const point_placement<T>& points) {
  placed_points_engine<Context, T>::set_points(points);
  const Context& context = this->context();
  const contribution_source<T> source{this->setup().shape, this->setup().window, this->points(), this->count()};
  const std::size_t nodes = source.shape.size();
  counts_.resize_discarding(context, nodes);
  offsets_.resize_discarding(context, nodes + 1);
  fill_bytes(context, counts_.data(), 0, nodes * sizeof(std::uint32_t));
  count_contributions(context, source, counts_.data());
  exclusive_scan_with_total(context, counts_.data(), offsets_.data(), nodes, scratch_);
  entries_.resize_discarding(context, contribution_total(context, source, offsets_.data() + nodes));
  const mesh_rows<T> rows{offsets_.data(), entries_.data(), nodes};
  insert_contributions(context, source, counts_.data(), rows);
  if (context.reproducibility() != determinism::none) order_rows(context, rows);
}

/// A unit that was asked for is what it is.
template <typename Context, typename T>
row_threads single_mesh_engine<Context, T>::threads() const {
  const spread_setup<T>& setup = this->setup();
  constexpr std::uint64_t all = std::uint64_t{1} << 40;
  const spread_options& options = setup.options;
  if (this->context().reproducibility() == determinism::canonical) return {1, options.reduction, all};
  if (options.compute_unit != 0) return {options.compute_unit, options.reduction, all};
  const double mean =
      static_cast<double>(this->count()) * setup.shape.footprint_size() / static_cast<double>(setup.shape.size());
  const int unit = paper_compute_unit(mean);
  return {unit, options.reduction, static_cast<std::uint64_t>(most_entries_alone(mean, unit))};
}

template <typename Context, typename T>
void single_mesh_engine<Context, T>::spread(const value_layout& layout, const T* values, T* mesh, bool accumulate) {
  const mesh_rows<T> rows{offsets_.data(), entries_.data(), layout.nodes};
  for_each_channel_pair(layout, values, mesh, accumulate, [&](const channel_pair<T>& channels) {
    multiply_rows(this->context(), rows, channels, threads());
  });
}

template class single_mesh_engine<backend_context, float>;
template class single_mesh_engine<backend_context, double>;

}  // namespace quadrat::detail
