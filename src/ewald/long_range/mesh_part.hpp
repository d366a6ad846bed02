// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <memory>

#include "ewald/choice/choice.hpp"
#include "ewald/long_range/influence.hpp"
#include "ewald/long_range/smooth_part.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/mesh/spread_plan.hpp"
#include "quadrat/parallel/workspace.hpp"
#include "spectral/stack.hpp"
#include "spectral/transform.hpp"

/// The long-range part over a mesh: spreading, a Fourier transform, the influence function, and back.
namespace quadrat::detail {

template <typename T>
class real_planes;

/// Meshes are in units of the cells, so that they serve cells of any shape and are equal for all systems. The gradient
/// is that of the window (Essmann et al. 1995), so that forces are the derivatives of the energy.
template <typename Context, typename T>
class mesh_part final : public smooth_part<Context, T> {
 public:
  mesh_part(const Context& context, const ewald_setup& setup, std::size_t systems, std::size_t most_bytes);
  void prepare(const smooth_input<T>& input) override;
  void compute(const smooth_input<T>& input, const smooth_output<T>& output) override;
  [[nodiscard]] bool has_zero_potentials() const override { return true; }
  [[nodiscard]] std::size_t bytes() const override;

 private:
  [[nodiscard]] mesh_modes<T> modes(const ewald_domain<T>* domains) const;
  [[nodiscard]] const std::uint32_t* systems_of(const smooth_input<T>& input) const;
  void make_planes();
  /// From charges on the mesh to potentials there, and virials.
  void weigh(const mesh_modes<T>& all, const smooth_output<T>& output);
  /// The same without virials, in fewer launches. Returns false if it cannot.
  [[nodiscard]] bool weigh_planes(const mesh_modes<T>& all, T* zero_potentials);

  Context context_;
  ewald_setup setup_;
  std::size_t systems_;
  transform_shape shape_;
  mesh_ends ends_;
  long_range_modes<T> law_;
  std::unique_ptr<spread_plan<Context, T, 3>> spreading_;
  std::unique_ptr<mode_transform<T>> transform_;
  std::shared_ptr<const real_planes<T>> planes_;  ///< on GPUs, for small meshes
  array<T, Context> factors_;
  array<T, Context> mesh_;
  array<std::complex<T>, Context> spectrum_;
  workspace<Context> scratch_;
};

/// The factor that undoes the spreading and the interpolation of a mode, and is nearly optimal if aliases are not
/// negligible: with w the window's transform, w(k)^2 / (sum over aliases w(k + m extent)^2)^2 (Hockney and Eastwood
/// 1988, section 8-3-3; exact for energies where the influence function vanishes beyond the mesh's modes). For the
/// modes 0 to extent / 2.
template <typename T>
[[nodiscard]] std::vector<double> deconvolution(const mesh_window<T>& window, int extent);

}  // namespace quadrat::detail
