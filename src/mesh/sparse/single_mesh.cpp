// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/sparse/single_mesh.hpp"

#include <algorithm>
#include <type_traits>

#include "core/backend.hpp"
#include "mesh/sparse/memory.hpp"
#include "quadrat/parallel/scan.hpp"

namespace quadrat::detail {

template <typename Context, typename T>
std::size_t single_mesh_engine<Context, T>::bytes_needed(std::size_t count) const {
  const mesh_shape& shape = this->setup().shape;
  require_row_counts(shape, count);
  const std::size_t contributions = count * static_cast<std::size_t>(shape.footprint_size());
  return placed_points_engine<Context, T>::bytes_needed(count) +
         shape.size() * (sizeof(std::uint32_t) + sizeof(std::uint64_t)) + scan_bytes(shape.size()) +
         contributions * sizeof(mesh_entry<T>) +
         long_row_list::room_for(contributions, most_unlisted(count)) * sizeof(std::size_t);
}

template <typename Context, typename T>
std::size_t single_mesh_engine<Context, T>::bytes() const {
  return placed_points_engine<Context, T>::bytes() + counts_.bytes() + offsets_.bytes() + entries_.bytes() +
         long_rows_.bytes() + scratch_.bytes();
}

template <typename Context, typename T>
void single_mesh_engine<Context, T>::set_points(const point_placement<T>& points) {
  placed_points_engine<Context, T>::set_points(points);
  const Context& context = this->context();
  const contribution_source<T> source{this->setup().shape, this->setup().window, this->points(), this->count()};
  const std::size_t nodes = source.shape.size();
  counts_.resize_discarding(context, nodes + 1);  // and the count of long rows
  offsets_.resize_discarding(context, nodes + 1);
  fill_bytes(context, counts_.data(), 0, (nodes + 1) * sizeof(std::uint32_t));
  count_contributions(context, source, counts_.data());
  exclusive_scan_with_total(context, counts_.data(), offsets_.data(), nodes, scratch_);
  const std::size_t entries = contribution_total(context, source, offsets_.data() + nodes);
  entries_.resize_discarding(context, entries);
  const std::uint32_t most = most_unlisted(this->count());
  long_rows_.resize_discarding(context, long_row_list::room_for(entries, most));
  list_ = {long_rows_.data(), counts_.data() + nodes, most, long_row_list::capacity_for(entries, most)};
  const listed_rows<T> rows{{offsets_.data(), entries_.data(), nodes}, list_};
  insert_contributions(context, source, counts_.data(), rows);
  if (context.reproducibility() != determinism::none) order_rows(context, rows);
}

/// A requested compute unit is used as given.
template <typename Context, typename T>
row_threads single_mesh_engine<Context, T>::threads(std::size_t count) const {
  const spread_setup<T>& setup = this->setup();
  const plan_details& details = setup.details;
  if (this->context().reproducibility() == determinism::canonical) return {1, details.reduction, long_row_list::none};
  if (details.compute_unit != 0) return {details.compute_unit, details.reduction, long_row_list::none};
  const double mean =
      static_cast<double>(count) * setup.shape.footprint_size() / static_cast<double>(setup.shape.size());
  const int unit = paper_compute_unit(mean);
  constexpr double most = 1e9;
  return {unit, details.reduction, static_cast<std::uint32_t>(std::min(unit * most_entries_alone(mean, unit), most))};
}

/// The number of entries from which rows must be listed. A CPU divides its work by entries.
template <typename Context, typename T>
std::uint32_t single_mesh_engine<Context, T>::most_unlisted(std::size_t count) const {
  if constexpr (std::is_same_v<Context, cpu_context>) return long_row_list::none;
  const std::uint32_t alone = threads(count).most_alone;
  const bool sorted = this->context().reproducibility() != determinism::none;
  return sorted ? std::min(alone, most_sorted_by_warp<T>) : alone;
}

template <typename Context, typename T>
void single_mesh_engine<Context, T>::spread(const value_layout& layout, const T* values, T* mesh, bool accumulate) {
  const listed_rows<T> rows{{offsets_.data(), entries_.data(), layout.nodes}, list_};
  for_each_channel_pair(layout, values, mesh, accumulate, [&](const channel_pair<T>& channels) {
    multiply_rows(this->context(), rows, channels, threads(this->count()));
  });
}

template class single_mesh_engine<backend_context, float>;
template class single_mesh_engine<backend_context, double>;

}  // namespace quadrat::detail
