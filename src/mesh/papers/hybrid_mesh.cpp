// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/papers/hybrid_mesh.hpp"

#include "core/backend.hpp"
#include "mesh/sparse/memory.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/reduce.hpp"
#include "quadrat/parallel/scan.hpp"

namespace quadrat::detail {

namespace {

/// Whether a row has at least `length` entries. Index: row.
struct has_length {
  const std::uint32_t* counts;
  std::uint32_t length;
  QUADRAT_HD std::uint64_t operator()(std::size_t k) const { return counts[k] >= length ? 1 : 0; }
};

/// Divides the entries of a row between columns and list. Index: row.
struct divide_row {
  const std::uint32_t* counts;
  std::uint32_t width;
  std::uint32_t* lengths;
  std::uint64_t* overflow;
  QUADRAT_HD void operator()(std::size_t k) const {
    const std::uint32_t count = counts[k];
    lengths[k] = count < width ? count : width;
    overflow[k] = count < width ? 0 : count - width;
  }
};

/// The sum of a row's entries in columns. Index: row.
template <typename T, int Channels>
struct multiply_columns {
  const mesh_entry<T>* ell;
  const std::uint32_t* lengths;
  std::size_t rows;
  channel_pair<T> channels;

  QUADRAT_HD void operator()(std::size_t k) const {
    const std::uint32_t length = lengths[k];
    T sum[Channels] = {};
    for (std::uint32_t j = 0; j < length; ++j) {
      const mesh_entry<T> entry = ell[j * rows + k];
      for (int c = 0; c < Channels; ++c) sum[c] += entry.weight * channels.value[c][entry.column * channels.stride];
    }
    for (int c = 0; c < Channels; ++c) channels.store(c, k, sum[c]);
  }
};

}  // namespace

template <typename Context, typename T>
std::size_t hybrid_mesh_engine<Context, T>::bytes_needed(std::size_t count) const {
  const mesh_shape& shape = this->setup().shape;
  require_row_counts(shape, count);
  // At least a third of each column is filled, so the columns take at most three times the space of their entries.
  return placed_points_engine<Context, T>::bytes_needed(count) +
         shape.size() * (2 * sizeof(std::uint32_t) + sizeof(std::uint64_t)) + scan_bytes(shape.size()) +
         count * static_cast<std::size_t>(shape.footprint_size()) * 3 * sizeof(mesh_entry<T>);
}

template <typename Context, typename T>
std::size_t hybrid_mesh_engine<Context, T>::bytes() const {
  return placed_points_engine<Context, T>::bytes() + counts_.bytes() + lengths_.bytes() + overflow_.bytes() +
         ell_.bytes() + list_.bytes() + list_rows_.bytes() + scratch_.bytes();
}

/// The most entries that at least a third of the rows have: an entry in a column costs a third of one in the list (Bell
/// and Garland 2009, section 3.4). Synchronizes several times.
template <typename Context, typename T>
std::uint32_t hybrid_mesh_engine<Context, T>::common_length(std::size_t nodes) {
  const std::size_t contributions = this->count() * static_cast<std::size_t>(this->setup().shape.footprint_size());
  std::uint64_t least = 0;
  // A third of the rows cannot each have more than three times the mean.
  std::uint64_t most = 3 * contributions / nodes + 1;
  while (least < most) {
    const std::uint64_t middle = least + (most - least + 1) / 2;
    const auto having = middle > 0xffffffffu ? std::uint64_t{0}
                                             : reduce(this->context(), "mesh.count_rows", nodes,
                                                      has_length{counts_.data(), static_cast<std::uint32_t>(middle)},
                                                      plus_operation{}, std::uint64_t{0}, scratch_);
    if (3 * having >= nodes) {
      least = middle;
    } else {
      most = middle - 1;
    }
  }
  return static_cast<std::uint32_t>(least);
}

template <typename Context, typename T>
void hybrid_mesh_engine<Context, T>::set_points(const point_placement<T>& points) {
  placed_points_engine<Context, T>::set_points(points);
  const Context& context = this->context();
  const contribution_source<T> source{this->setup().shape, this->setup().window, this->points(), this->count()};
  const std::size_t nodes = source.shape.size();
  counts_.resize_discarding(context, nodes);
  lengths_.resize_discarding(context, nodes);
  overflow_.resize_discarding(context, nodes + 1);
  fill_bytes(context, counts_.data(), 0, nodes * sizeof(std::uint32_t));
  count_contributions(context, source, counts_.data());
  width_ = common_length(nodes);
  for_each(context, "mesh.divide_rows", nodes, divide_row{counts_.data(), width_, lengths_.data(), overflow_.data()});
  exclusive_scan_with_total(context, overflow_.data(), overflow_.data(), nodes, scratch_);
  const std::size_t listed = static_cast<std::size_t>(to_host(context, overflow_.data() + nodes, 1)[0]);
  ell_.resize_discarding(context, nodes * width_);
  list_.resize_discarding(context, listed);
  list_rows_.resize_discarding(context, listed);
  insert_contributions(context, source, counts_.data(),
                       hybrid_rows<T>{ell_.data(), overflow_.data(), list_.data(), list_rows_.data(), nodes, width_});
}

template <typename Context, typename T>
void hybrid_mesh_engine<Context, T>::spread(const value_layout& layout, const T* values, T* mesh, bool accumulate) {
  const Context& context = this->context();
  for_each_channel_pair(layout, values, mesh, accumulate, [&](const channel_pair<T>& channels) {
    if (channels.count == 2) {
      for_each(context, "mesh.multiply_columns", layout.nodes,
               multiply_columns<T, 2>{ell_.data(), lengths_.data(), layout.nodes, channels});
    } else {
      for_each(context, "mesh.multiply_columns", layout.nodes,
               multiply_columns<T, 1>{ell_.data(), lengths_.data(), layout.nodes, channels});
    }
    add_list(context, list_.data(), list_rows_.data(), list_.size(), channels);
  });
}

template class hybrid_mesh_engine<backend_context, float>;
template class hybrid_mesh_engine<backend_context, double>;

}  // namespace quadrat::detail
