// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/distributed/power_spectrum.hpp"

#include <algorithm>
#include <complex>
#include <optional>
#include <vector>

#include "core/backend.hpp"
#include "distributed/particles/near_block.hpp"
#include "distributed/particles/own_points.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/distributed/fft.hpp"
#include "quadrat/distributed/spread_plan.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/reduce.hpp"
#include "spectral/fill_ones.hpp"
#include "spectral/spectrum_options.hpp"
#include "spectral/spectrum_sums.hpp"

namespace quadrat {

namespace {

/// The sums over ranks of numbers that each has as many of, in order of rank.
[[nodiscard]] std::vector<double> summed(communicator& ranks, const std::vector<double>& mine) {
  const std::size_t size = mine.size();
  std::vector<double> all(size * static_cast<std::size_t>(ranks.size())), sums(size);
  ranks.all_gather(mine.data(), all.data(), size * sizeof(double));
  for (std::size_t k = 0; k < all.size(); ++k) sums[k % size] += all[k];
  return sums;
}

}  // namespace

template <typename Context, typename T, int D>
struct distributed_power_spectrum<Context, T, D>::implementation {
  implementation(const Context& where, communicator& group, const grid<T, D>& cells, const vec<int, D>& extents,
                 const power_spectrum_options& wanted);

  void count_modes();
  [[nodiscard]] power_spectrum_result measure(const decomposition<D>& shares, const points_view<T, D>& points,
                                              const T* weights, const points_view<T, D>* others,
                                              const T* other_weights);
  [[nodiscard]] std::size_t bytes() const;

  Context context;
  power_spectrum_options options;

 private:
  void make_plans(const decomposition<D>& shares);
  void take(const decomposition<D>& shares, const points_view<T, D>& points, const T* weights);
  [[nodiscard]] detail::set_moments agreed_moments(const T* weights);
  [[nodiscard]] detail::set_moments transform(int set, const decomposition<D>& shares, const points_view<T, D>& points,
                                              const T* weights);
  [[nodiscard]] int meshes() const { return options.interlaced ? 2 : 1; }

  communicator& ranks;
  grid<T, D> space;
  vec<int, D> extents;
  detail::spectrum_mesh shape;  ///< of the box
  std::optional<distributed_real_fft<Context, T>> fft;
  decomposition<D> owned;                                          ///< that of the plans
  std::optional<distributed_spread_plan<Context, T, D>> plans[2];  ///< plain, and half a cell lower
  std::optional<detail::spectrum_sums<Context, T>> sums;           ///< none on ranks without modes
  power_spectrum_result counted;                                   ///< without power
  detail::own_points_check<Context> check_own;
  array<vec<T, D>, Context> near_block;
  array<T, Context> ones, mesh;
  array<std::complex<T>, Context> modes[2][2];  ///< [set][mesh]
  workspace<Context> scratch;
};

template <typename Context, typename T, int D>
distributed_power_spectrum<Context, T, D>::implementation::implementation(const Context& where, communicator& group,
                                                                          const grid<T, D>& cells,
                                                                          const vec<int, D>& mesh_points,
                                                                          const power_spectrum_options& wanted)
    : context(where),
      options(detail::checked_spectrum_options(wanted, D)),
      ranks(group),
      space(cells),
      extents(mesh_points),
      shape(detail::make_spectrum_mesh(cells.domain, mesh_points)) {
  if (options.edges.empty()) options.edges = detail::usual_edges(shape);
}

/// Collective.
template <typename Context, typename T, int D>
void distributed_power_spectrum<Context, T, D>::implementation::count_modes() {
  fft.emplace(context, ranks, extents, distributed_fft_options{.library = options.fft});
  std::vector<double> found(2 * (options.edges.size() - 1));
  together(ranks, [&] {
    const cell_block<3> block = fft->mode_block();
    if (block.empty()) return;
    sums.emplace(context, shape, options,
                 detail::mode_block{{block.first[0], block.first[1]}, {block.end[0], block.end[1]}});
    found = sums->modes();
  });
  counted = detail::spectrum_of_modes(options, summed(ranks, found));
}

/// Collective.
template <typename Context, typename T, int D>
void distributed_power_spectrum<Context, T, D>::implementation::make_plans(const decomposition<D>& shares) {
  if (plans[0] && owned.blocks == shares.blocks) return;
  for (auto& plan : plans) plan.reset();
  const vec<bool, D> periodic = vec<bool, D>::filled(true);
  const auto layout = fft->in_pencils() ? pencil_decomposition(extents, ranks.size(), periodic)
                                        : slab_decomposition(extents, ranks.size(), periodic);
  spread_options spreading;
  spreading.method = options.method;
  T half = 0;
  vec<T, D> lower = space.domain.lower;
  for (int axis = 0; axis < D; ++axis) {
    const T step = space.domain.length[axis] / static_cast<T>(2 * extents[axis]);
    half = std::max(half, step);
    lower[axis] -= step;
  }
  plans[0].emplace(context, ranks, extents, options.order, layout, space, shares, T(0), spreading);
  if (options.interlaced) {
    const auto shifted = make_grid(make_box_from_lengths(lower, space.domain.length, periodic), space.cells);
    // A point is half a cell beyond the face of its shifted block, or a little more by rounding.
    plans[1].emplace(context, ranks, extents, options.order, layout, shifted, shares, T(1.5) * half, spreading);
  }
  owned = shares;
}

/// Checks the own points, takes their images near the block, and fills missing weights.
template <typename Context, typename T, int D>
void distributed_power_spectrum<Context, T, D>::implementation::take(const decomposition<D>& shares,
                                                                     const points_view<T, D>& points,
                                                                     const T* weights) {
  check_own(context, ranks, space, shares, points);
  near_block.resize_discarding(context, points.count);
  const vec<double, D> middle = detail::middle_of(space, shares.blocks[static_cast<std::size_t>(ranks.rank())]);
  for_each(context, "distributed.near_block", points.count,
           detail::place_near_block<T, D>{points, middle, cast<double>(space.domain.length), vec<bool, D>::filled(true),
                                          near_block.data()});
  if (weights != nullptr) return;
  ones.resize_discarding(context, points.count);
  for_each(context, "spectral.fill_ones", points.count, detail::fill_ones<T>{ones.data()});
}

/// Collective.
template <typename Context, typename T, int D>
detail::set_moments distributed_power_spectrum<Context, T, D>::implementation::agreed_moments(const T* weights) {
  std::vector<double> mine(3);
  together(ranks, [&] {
    const auto found =
        reduce_sum(context, "spectral.weight_moments", near_block.size(), detail::weight_moments<T>{weights}, scratch);
    mine = {static_cast<double>(near_block.size()), found[0], found[1]};
  });
  const std::vector<double> all = summed(ranks, mine);
  require(all[0] > 0, "there are no points; a power spectrum needs at least one");
  const detail::set_moments moments{all[0], all[1], all[2]};
  detail::check_moments(moments, options);
  return moments;
}

/// Spreads a set onto each mesh, and transforms that. Collective.
template <typename Context, typename T, int D>
detail::set_moments distributed_power_spectrum<Context, T, D>::implementation::transform(
    int set, const decomposition<D>& shares, const points_view<T, D>& points, const T* given) {
  together(ranks, [&] { take(shares, points, given); });
  const T* const weights = given != nullptr ? given : ones.data();
  const detail::set_moments moments = agreed_moments(weights);
  make_plans(shares);
  for (int k = 0; k < meshes(); ++k) {
    together(ranks, [&] {
      mesh.resize_discarding(context, fft->mesh_size());
      modes[set][k].resize_discarding(context, fft->room());
    });
    plans[k]->set_points(points_of(near_block));
    plans[k]->spread_async(weights, mesh.data());
    fft->forward_async(mesh.data(), modes[set][k].data());
  }
  return moments;
}

template <typename Context, typename T, int D>
power_spectrum_result distributed_power_spectrum<Context, T, D>::implementation::measure(
    const decomposition<D>& shares, const points_view<T, D>& points, const T* weights, const points_view<T, D>* others,
    const T* other_weights) {
  const detail::set_moments first = transform(0, shares, points, weights);
  detail::set_moments second = first;
  if (others != nullptr) detail::about_others([&] { second = transform(1, shares, *others, other_weights); });
  std::vector<double> found(options.multipoles.size() * counted.bins());
  together(ranks, [&] {
    if (!sums) return;
    const auto modes_of = [&](int set) {
      return detail::set_modes<T>{modes[set][0].data(), modes[set][meshes() - 1].data()};
    };
    const detail::set_modes<T> of_second = modes_of(1);
    const cell_block<3> block = fft->mode_block();
    found = sums->power(modes_of(0), others != nullptr ? &of_second : nullptr,
                        static_cast<std::size_t>(block.end[2] - block.first[2]));
  });
  power_spectrum_result result = counted;
  result.power = summed(ranks, found);
  detail::normalize(result, options, shape.volume(), first, others != nullptr ? &second : nullptr);
  return result;
}

template <typename Context, typename T, int D>
std::size_t distributed_power_spectrum<Context, T, D>::implementation::bytes() const {
  std::size_t held = fft->bytes() + ones.bytes() + mesh.bytes() + near_block.bytes() + check_own.bytes();
  held += (sums ? sums->bytes() : 0) + scratch.bytes();
  for (const auto& plan : plans) held += plan ? plan->bytes() : 0;
  for (const auto& set : modes) held += set[0].bytes() + set[1].bytes();
  return held;
}

template <typename Context, typename T, int D>
distributed_power_spectrum<Context, T, D>::distributed_power_spectrum(const Context& context, communicator& ranks,
                                                                      const grid<T, D>& space, const vec<int, D>& mesh,
                                                                      const power_spectrum_options& options) {
  together(ranks, [&] { implementation_ = std::make_unique<implementation>(context, ranks, space, mesh, options); });
  implementation_->count_modes();
}

template <typename Context, typename T, int D>
power_spectrum_result distributed_power_spectrum<Context, T, D>::measure(const decomposition<D>& shares,
                                                                         const points_view<T, D>& points,
                                                                         const T* weights) {
  return implementation_->measure(shares, points, weights, nullptr, nullptr);
}
template <typename Context, typename T, int D>
power_spectrum_result distributed_power_spectrum<Context, T, D>::measure_cross(const decomposition<D>& shares,
                                                                               const points_view<T, D>& points,
                                                                               const T* weights,
                                                                               const points_view<T, D>& others,
                                                                               const T* other_weights) {
  return implementation_->measure(shares, points, weights, &others, other_weights);
}
template <typename Context, typename T, int D>
const power_spectrum_options& distributed_power_spectrum<Context, T, D>::options() const {
  return implementation_->options;
}
template <typename Context, typename T, int D>
std::size_t distributed_power_spectrum<Context, T, D>::bytes() const {
  return implementation_->bytes();
}

template class distributed_power_spectrum<backend_context, float, 3>;
template class distributed_power_spectrum<backend_context, double, 3>;

}  // namespace quadrat
