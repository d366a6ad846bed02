// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/papers/group_order.hpp"

#include "core/backend.hpp"
#include "mesh/sparse/memory.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/scan.hpp"
#include "quadrat/parallel/sort.hpp"

namespace quadrat::detail {

namespace {

/// The first mesh points of the pieces along one axis.
struct axis_pieces {
  QUADRAT_HD axis_pieces(const group_grid& grid, int first, int axis) {
    for (int j = 0; j < grid.shape.width[axis]; ++j) {
      const group_grid::slot slot = grid.locate(first, axis, j);
      if (slot.block < 0 || slot.start != j) continue;
      block[count] = slot.block;
      length[count] = slot.length;
      ++count;
    }
  }
  int count = 0;
  int block[mesh_window<double>::most_width];
  int length[mesh_window<double>::most_width];
};

/// Index: point.
template <typename T>
struct count_pieces {
  group_grid grid;
  const placed_point<T>* points;
  std::uint32_t* counts;

  QUADRAT_HD void operator()(std::size_t i) const {
    std::uint32_t pieces = 1;
    for (int axis = 0; axis < 3; ++axis) {
      pieces *= static_cast<std::uint32_t>(axis_pieces(grid, points[i].first[axis], axis).count);
    }
    counts[i] = pieces;
  }
};

/// Index: point. Pieces are numbered with the last axis fastest.
template <typename T>
struct list_pieces {
  group_grid grid;
  const placed_point<T>* points;
  const std::uint32_t* first;
  std::uint32_t* groups;
  std::uint32_t* lengths;

  QUADRAT_HD void operator()(std::size_t i) const {
    const axis_pieces along0(grid, points[i].first[0], 0);
    const axis_pieces along1(grid, points[i].first[1], 1);
    const axis_pieces along2(grid, points[i].first[2], 2);
    std::size_t piece = first[i];
    for (int a = 0; a < along0.count; ++a) {
      for (int b = 0; b < along1.count; ++b) {
        for (int c = 0; c < along2.count; ++c) {
          groups[piece] = static_cast<std::uint32_t>(grid.group(along0.block[a], along1.block[b], along2.block[c]));
          lengths[piece] = static_cast<std::uint32_t>(along0.length[a] * along1.length[b] * along2.length[c]);
          ++piece;
        }
      }
    }
  }
};

/// Index: piece in sorted order.
struct take_lengths {
  const std::uint32_t* ids;
  const std::uint32_t* lengths;
  std::uint32_t* sorted;
  QUADRAT_HD void operator()(std::size_t s) const { sorted[s] = lengths[ids[s]]; }
};
struct give_bases {
  const std::uint32_t* ids;
  const std::uint64_t* sorted;
  std::uint64_t* base;
  QUADRAT_HD void operator()(std::size_t s) const { base[ids[s]] = sorted[s]; }
};

}  // namespace

template <typename Context>
std::size_t piece_order<Context>::bytes_needed(const group_grid& grid, std::size_t count) {
  const std::size_t pieces = count * most_pieces(grid);
  require(pieces <= max_count, "the method group_mesh might have ", pieces, " pieces of footprints to sort; at most ",
          max_count, " are possible where results must be the same in every run");
  return (count + 1) * sizeof(std::uint32_t) + pieces * (5 * sizeof(std::uint32_t) + 2 * sizeof(std::uint64_t)) +
         scan_bytes(pieces);
}

template <typename Context>
std::size_t piece_order<Context>::bytes() const {
  return first_.bytes() + keys_[0].bytes() + keys_[1].bytes() + ids_[0].bytes() + ids_[1].bytes() + lengths_.bytes() +
         sorted_base_.bytes() + base_.bytes();
}

template <typename Context>
template <typename T>
void piece_order<Context>::arrange(const Context& context, const placed_point<T>* points, std::size_t count,
                                   const group_grid& grid, workspace<Context>& scratch) {
  first_.resize_discarding(context, count + 1);
  lengths_.resize_discarding(context, count);
  for_each(context, "mesh.count_pieces", count, count_pieces<T>{grid, points, lengths_.data()});
  exclusive_scan_with_total(context, lengths_.data(), first_.data(), count, scratch);
  const std::size_t pieces = to_host(context, first_.data() + count, 1)[0];
  lengths_.resize_discarding(context, pieces);
  for (auto* words : {&keys_[0], &keys_[1], &ids_[0], &ids_[1]}) words->resize_discarding(context, pieces);
  sorted_base_.resize_discarding(context, pieces);
  base_.resize_discarding(context, pieces);
  for_each(context, "mesh.list_pieces", count,
           list_pieces<T>{grid, points, first_.data(), keys_[0].data(), lengths_.data()});
  const sort_buffers<std::uint32_t> buffers{{keys_[0].data(), keys_[1].data()}, {ids_[0].data(), ids_[1].data()}};
  const int sorted = sort_pairs(context, buffers, pieces, key_bits_for(grid.groups()), scratch, sort_values::index);
  for_each(context, "mesh.take_lengths", pieces, take_lengths{ids_[sorted].data(), lengths_.data(), keys_[0].data()});
  exclusive_scan(context, keys_[0].data(), sorted_base_.data(), pieces, scratch);
  for_each(context, "mesh.give_bases", pieces, give_bases{ids_[sorted].data(), sorted_base_.data(), base_.data()});
}

template class piece_order<backend_context>;
template void piece_order<backend_context>::arrange(const backend_context&, const placed_point<float>*, std::size_t,
                                                    const group_grid&, workspace<backend_context>&);
template void piece_order<backend_context>::arrange(const backend_context&, const placed_point<double>*, std::size_t,
                                                    const group_grid&, workspace<backend_context>&);

}  // namespace quadrat::detail
