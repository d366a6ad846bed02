// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/spectral/power_spectrum.hpp"

#include <complex>
#include <optional>

#include "core/backend.hpp"
#include "core/point_checks.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/mesh/spread_plan.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/reduce.hpp"
#include "quadrat/parallel/workspace.hpp"
#include "quadrat/spectral/fft.hpp"
#include "spectral/fill_ones.hpp"
#include "spectral/spectrum_options.hpp"
#include "spectral/spectrum_sums.hpp"

namespace quadrat {

template <typename Context, typename T, int D>
struct power_spectrum<Context, T, D>::implementation {
  implementation(const Context& where, const box<T, D>& domain, const vec<int, D>& extents,
                 const power_spectrum_options& wanted);

  [[nodiscard]] power_spectrum_result measure(const points_view<T, D>& points, const T* weights,
                                              const points_view<T, D>* others, const T* other_weights);
  [[nodiscard]] std::size_t bytes() const;

  Context context;
  power_spectrum_options options;

 private:
  using spread_type = spread_plan<Context, T, D>;

  [[nodiscard]] detail::set_moments transform(int set, const points_view<T, D>& points, const T* weights);
  [[nodiscard]] const T* weights_of(const points_view<T, D>& points, const T* weights);
  [[nodiscard]] detail::set_modes<T> modes_of(int set) const {
    return {modes[set][0].data(), modes[set][meshes() - 1].data()};
  }
  [[nodiscard]] int meshes() const { return options.interlaced ? 2 : 1; }

  detail::spectrum_mesh shape;  ///< of the box
  real_fft<Context, T, D> fft;
  std::optional<spread_type> plans[2];  ///< plain, and half a cell lower
  std::optional<detail::spectrum_sums<Context, T>> sums;
  power_spectrum_result counted;  ///< without power
  array<T, Context> ones, mesh;
  array<std::complex<T>, Context> modes[2][2];  ///< [set][mesh]
};

template <typename Context, typename T, int D>
power_spectrum<Context, T, D>::implementation::implementation(const Context& where, const box<T, D>& domain,
                                                              const vec<int, D>& extents,
                                                              const power_spectrum_options& wanted)
    : context(where),
      options(detail::checked_spectrum_options(wanted, D)),
      shape(detail::make_spectrum_mesh(domain, extents)),
      fft(where, extents, {.library = wanted.fft}) {
  if (options.edges.empty()) options.edges = detail::usual_edges(shape);
  spread_options spreading;
  spreading.method = options.method;
  for (int k = 0; k < meshes(); ++k) {
    box<T, D> shifted = domain;
    for (int d = 0; d < D; ++d)
      shifted.lower[d] -= static_cast<T>(k) * domain.length[d] / static_cast<T>(2 * extents[d]);
    plans[k].emplace(where, shifted, extents, options.order, spreading);
  }
  sums.emplace(context, shape, options, detail::mode_block{{0, 0}, {shape.extent[0], shape.extent[1]}});
  counted = detail::spectrum_of_modes(options, sums->modes());
}

template <typename Context, typename T, int D>
const T* power_spectrum<Context, T, D>::implementation::weights_of(const points_view<T, D>& points, const T* weights) {
  detail::require_points(points, "points");
  require(points.count > 0, "there are no points; a power spectrum needs at least one");
  if (weights != nullptr) return weights;
  ones.resize_discarding(context, points.count);
  for_each(context, "spectral.fill_ones", points.count, detail::fill_ones<T>{ones.data()});
  return ones.data();
}

/// Spreads a set onto each mesh, and transforms that.
template <typename Context, typename T, int D>
detail::set_moments power_spectrum<Context, T, D>::implementation::transform(int set, const points_view<T, D>& points,
                                                                             const T* given) {
  const T* const weights = weights_of(points, given);
  workspace<Context> scratch;
  const auto sum =
      reduce_sum(context, "spectral.weight_moments", points.count, detail::weight_moments<T>{weights}, scratch);
  const detail::set_moments moments{static_cast<double>(points.count), sum[0], sum[1]};
  detail::check_moments(moments, options);
  mesh.resize_discarding(context, fft.mesh_size());
  for (int k = 0; k < meshes(); ++k) {
    plans[k]->set_points(points);
    plans[k]->spread_async(weights, mesh.data());
    modes[set][k].resize_discarding(context, fft.mode_size());
    fft.forward_async(mesh.data(), modes[set][k].data());
  }
  return moments;
}

template <typename Context, typename T, int D>
power_spectrum_result power_spectrum<Context, T, D>::implementation::measure(const points_view<T, D>& points,
                                                                             const T* weights,
                                                                             const points_view<T, D>* others,
                                                                             const T* other_weights) {
  const detail::set_moments first = transform(0, points, weights);
  detail::set_moments second = first;
  if (others != nullptr) detail::about_others([&] { second = transform(1, *others, other_weights); });
  const detail::set_modes<T> of_first = modes_of(0), of_second = modes_of(1);
  power_spectrum_result result = counted;
  result.power = sums->power(of_first, others != nullptr ? &of_second : nullptr, fft.mode_row());
  for (int k = 0; k < meshes(); ++k) plans[k]->check();
  detail::normalize(result, options, shape.volume(), first, others != nullptr ? &second : nullptr);
  return result;
}

template <typename Context, typename T, int D>
std::size_t power_spectrum<Context, T, D>::implementation::bytes() const {
  std::size_t held = fft.bytes() + sums->bytes() + ones.bytes() + mesh.bytes();
  for (const auto& plan : plans) held += plan ? plan->bytes() : 0;
  for (const auto& set : modes) held += set[0].bytes() + set[1].bytes();
  return held;
}

template <typename Context, typename T, int D>
power_spectrum<Context, T, D>::power_spectrum(const Context& context, const box<T, D>& domain, const vec<int, D>& mesh,
                                              const power_spectrum_options& options)
    : implementation_(std::make_unique<implementation>(context, domain, mesh, options)) {}

template <typename Context, typename T, int D>
power_spectrum_result power_spectrum<Context, T, D>::measure(const points_view<T, D>& points, const T* weights) {
  return implementation_->measure(points, weights, nullptr, nullptr);
}
template <typename Context, typename T, int D>
power_spectrum_result power_spectrum<Context, T, D>::measure_cross(const points_view<T, D>& points, const T* weights,
                                                                   const points_view<T, D>& others,
                                                                   const T* other_weights) {
  return implementation_->measure(points, weights, &others, other_weights);
}
template <typename Context, typename T, int D>
const power_spectrum_options& power_spectrum<Context, T, D>::options() const {
  return implementation_->options;
}
template <typename Context, typename T, int D>
std::size_t power_spectrum<Context, T, D>::bytes() const {
  return implementation_->bytes();
}

template class power_spectrum<backend_context, float, 2>;
template class power_spectrum<backend_context, float, 3>;
template class power_spectrum<backend_context, double, 2>;
template class power_spectrum<backend_context, double, 3>;

}  // namespace quadrat
