// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/distributed/decomposition.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/backend.hpp"
#include "distributed/particles/bisection.hpp"
#include "distributed/particles/blocks_of_boxes.hpp"
#include "distributed/particles/box_partitioner.hpp"
#include "distributed/particles/weighted_cells.hpp"
#include "distributed/particles/weighted_cuts.hpp"
#include "quadrat/parallel/atomic.hpp"
#include "quadrat/parallel/for_each.hpp"

namespace quadrat {

namespace {

/// The owner of each point.
template <typename T, int D>
struct owner_of_point {
  decomposition_view<D> shares;
  grid<T, D> space;
  points_view<T, D> points;
  std::uint32_t* owners;

  QUADRAT_HD void operator()(std::size_t i) const {
    owners[i] = static_cast<std::uint32_t>(shares.owner(space.unfolded_cell_of(points[i])));
  }
};

template <typename T, int D>
struct cell_of_point {
  grid<T, D> space;
  points_view<T, D> points;
  vec<int, D>* cells;

  QUADRAT_HD void operator()(std::size_t i) const { cells[i] = space.unfolded_cell_of(points[i]); }
};

/// Adds the weight of each point to the layers of its part. Sums of integers, so exact in any order.
template <typename T, int D>
struct add_to_layers {
  grid<T, D> space;
  points_view<T, D> points;
  const std::uint32_t* weights;
  const std::uint32_t* part_of_point;
  const detail::layer_bins* bins;
  std::uint64_t* histogram;

  QUADRAT_HD void operator()(std::size_t i) const {
    const std::uint32_t part = part_of_point[i];
    if (part == no_particle) return;
    const std::uint64_t weight = weights != nullptr ? weights[i] : 1;
    const vec<int, D> cell = space.unfolded_cell_of(points[i]);
    for (int axis = 0; axis < D; ++axis) {
      const detail::layer_bins& along = bins[part * static_cast<std::uint32_t>(D) + static_cast<std::uint32_t>(axis)];
      if (cell[axis] < along.first || cell[axis] >= along.end) continue;
      atomic_add(histogram + along.offset + ((cell[axis] - along.first) >> along.shift), weight);
    }
  }
};

/// The parts below and above a cut; no_particle for a single rank, which is not divided further.
struct part_cut {
  int axis;
  int cell;
  std::uint32_t below;
  std::uint32_t above;
};

template <typename T, int D>
struct follow_cut {
  grid<T, D> space;
  points_view<T, D> points;
  const part_cut* cuts;
  std::uint32_t* part_of_point;

  QUADRAT_HD void operator()(std::size_t i) const {
    if (part_of_point[i] == no_particle) return;
    const part_cut& cut = cuts[part_of_point[i]];
    const vec<int, D> cell = space.unfolded_cell_of(points[i]);
    part_of_point[i] = cell[cut.axis] < cut.cell ? cut.below : cut.above;
  }
};

/// The parts that the cuts make of the parts before, in the order of bisection.
template <int D>
[[nodiscard]] std::vector<part_cut> cuts_of(const std::vector<typename detail::bisection<D>::part>& before,
                                            const std::vector<int>& axes, const std::vector<int>& cells) {
  std::vector<part_cut> cuts;
  std::uint32_t next = 0;
  for (std::size_t p = 0; p < before.size(); ++p) {
    const int below = before[p].ranks_below(), above = before[p].ranks - below;
    part_cut& one = cuts.emplace_back(part_cut{axes[p], cells[p], no_particle, no_particle});
    if (below > 1) one.below = next++;
    if (above > 1) one.above = next++;
  }
  return cuts;
}

template <typename T, int D>
[[nodiscard]] std::vector<vec<int, D>> cells_of(const cpu_context& context, const grid<T, D>& space,
                                                const points_view<T, D>& points) {
  std::vector<vec<int, D>> cells(points.count);
  for_each(context, "decomposition.cells", points.count, cell_of_point<T, D>{space, points, cells.data()});
  return cells;
}

/// The decomposition by the communicator's load-balancing library; nullopt if there is none.
template <typename T, int D>
[[nodiscard]] std::optional<decomposition<D>> partitioned(const cpu_context& context, communicator& ranks,
                                                          const grid<T, D>& space, const points_view<T, D>& points,
                                                          const std::uint32_t* weights) {
  auto* const partitioner = dynamic_cast<detail::box_partitioner*>(&ranks);
  if (partitioner == nullptr || ranks.size() == 1) return std::nullopt;
  detail::weighted_cells<D> cells(cells_of(context, space, points), weights);
  int shift = 0;
  for (const int one : all_values(ranks, cells.shift())) shift = std::max(shift, one);
  cells.coarsen(shift);
  const auto boxes = partitioner->partition(D, cells.places(detail::edges_of(space)), cells.weights());
  if (boxes.empty()) return std::nullopt;
  return detail::decomposition_of_blocks(space.cells, space.domain.periodic,
                                         cells.blocks(boxes, detail::edges_of(space), space.cells));
}
template <typename T, int D>
[[nodiscard]] std::optional<decomposition<D>> partitioned(const cuda_context&, communicator&, const grid<T, D>&,
                                                          const points_view<T, D>&, const std::uint32_t*) {
  // Points are on the device, where the built-in histograms take only microseconds.
  return std::nullopt;
}

}  // namespace

template <typename Context, typename T, int D>
decomposition<D> balanced_decomposition(const Context& context, communicator& ranks, const grid<T, D>& space,
                                        const points_view<T, D>& points, const std::uint32_t* weights) {
  detail::require_decomposable(space, ranks.size());
  if (auto found = partitioned(context, ranks, space, points, weights)) return *std::move(found);
  detail::bisection<D> work(space.cells, space.domain.periodic, ranks.size());
  const vec<double, D> edges = detail::edges_of(space);
  array<std::uint32_t, Context> part_of_point(context, points.count);
  fill_bytes(context, part_of_point.data(), 0, points.count * sizeof(std::uint32_t));
  while (!work.parts().empty()) {
    detail::weighted_cuts<D> cuts(work.parts(), edges);
    for (bool known = false; !known;) {
      const auto bins = to_device(context, cuts.bins());
      array<std::uint64_t, Context> histogram(context, cuts.size());
      fill_bytes(context, histogram.data(), 0, cuts.size() * sizeof(std::uint64_t));
      for_each(context, "decomposition.layers", points.count,
               add_to_layers<T, D>{space, points, weights, part_of_point.data(), bins.data(), histogram.data()});
      auto sums = to_host(context, histogram);
      ranks.add_up(sums.data(), sums.size());
      known = cuts.take(sums);
    }
    const auto followed = to_device(context, cuts_of<D>(work.parts(), cuts.axes(), cuts.cells()));
    for_each(context, "decomposition.follow", points.count,
             follow_cut<T, D>{space, points, followed.data(), part_of_point.data()});
    context.synchronize();
    work.cut(cuts.axes(), cuts.cells());
  }
  return work.finished();
}

template <typename Context, typename T, int D>
void find_owners(const Context& context, const decomposition_view<D>& shares, const grid<T, D>& space,
                 const points_view<T, D>& points, std::uint32_t* owners) {
  for_each(context, "decomposition.owners", points.count, owner_of_point<T, D>{shares, space, points, owners});
}

#define QUADRAT_INSTANTIATE(T, D)                                                                            \
  template decomposition<D> balanced_decomposition(const backend_context&, communicator&, const grid<T, D>&, \
                                                   const points_view<T, D>&, const std::uint32_t*);          \
  template void find_owners(const backend_context&, const decomposition_view<D>&, const grid<T, D>&,         \
                            const points_view<T, D>&, std::uint32_t*);
QUADRAT_INSTANTIATE(float, 2)
QUADRAT_INSTANTIATE(float, 3)
QUADRAT_INSTANTIATE(double, 2)
QUADRAT_INSTANTIATE(double, 3)
#undef QUADRAT_INSTANTIATE

}  // namespace quadrat
