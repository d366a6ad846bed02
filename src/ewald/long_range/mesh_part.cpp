// SPDX-License-Identifier: BSD-3-Clause
#include "ewald/long_range/mesh_part.hpp"

#include <vector>

#include "core/backend.hpp"
#include "core/memory_check.hpp"
#include "ewald/system_sums.hpp"
#include "mesh/plan_access.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/for_each.hpp"

#if defined(__CUDACC__)
#include "spectral/fft/cuda/real_planes.cuh"
#endif

namespace quadrat::detail {

template <typename Context, typename T>
mesh_part<Context, T>::mesh_part(const Context& context, const ewald_setup& setup, std::size_t systems,
                                 std::size_t most_bytes)
    : context_(context), setup_(setup), systems_(systems), shape_{}, ends_{} {
  const ewald_parameters& parameters = setup.parameters;
  const vec<int, 3>& mesh = parameters.mesh;
  law_ = make_long_range_modes<T>(
      ewald_splitting(setup.law, split_shape_of(setup.method), parameters.cutoff, parameters.splitting));
  plan_details details;
  details.real = true;
  // An even number of mesh points beyond the end, so that real meshes begin where complex numbers can.
  if (systems > 1) details.stack = {static_cast<int>(systems), mesh[0] + (parameters.order + 1) / 2 * 2};
  const std::size_t layer = static_cast<std::size_t>(mesh[1]) * static_cast<std::size_t>(mesh[2]);
  const std::size_t extent = static_cast<std::size_t>(mesh[0]);
  ends_ = {systems, extent, systems > 1 ? static_cast<std::size_t>(details.stack.spacing) : extent, layer};
  shape_.real = true;
  shape_.count = static_cast<int>(systems);
  shape_.apart = systems > 1 ? ends_.spacing * layer : 0;
  for (int axis = 0; axis < 3; ++axis) {
    shape_.extent[axis] = mesh[axis];
    shape_.band[axis] = {mesh[axis] - mesh[axis] / 2, mesh[axis] / 2};
  }
  shape_.band[2] = {mesh[2] / 2 + 1, 0};
  const std::size_t points = systems * ends_.spacing * layer;
  // Mesh and modes have about the same size; the transform may need that much again.
  require_memory(context.memory(), message("the mesh of ", mesh[0], " x ", mesh[1], " x ", mesh[2], " points"),
                 3 * points * sizeof(T), 0, "a larger cutoff or error needs a smaller one");
  require(most_bytes == 0 || 2 * points * sizeof(T) <= most_bytes, "the mesh of ", mesh[0], " x ", mesh[1], " x ",
          mesh[2], " points and its modes need ", 2 * points * sizeof(T), " bytes; ", most_bytes, " are allowed");
  const mesh_window<T> window = window_of<T>(setup);
  std::vector<T> host;
  for (int axis = 0; axis < 3; ++axis) {
    for (const double factor : deconvolution(window, mesh[axis])) host.push_back(static_cast<T>(factor));
  }
  factors_ = to_device(context, host);
  transform_ = make_mode_transform<T>(context, shape_);
  make_planes();
  mesh_ = array<T, Context>(context, points);
  spectrum_ = array<std::complex<T>, Context>(context, transform_->spectrum_size());
  spread_options options;
  options.uses = 4;  // interpolating potentials and gradients costs like three more
  const box<T, 3> unit{{}, vec<T, 3>::filled(T(1)), vec<bool, 3>::filled(true)};
  spreading_ =
      std::make_unique<spread_plan<Context, T, 3>>(plan_access::make(context, unit, mesh, window, options, details));
}

template <typename Context, typename T>
void mesh_part<Context, T>::make_planes() {
#if defined(__CUDACC__)
  if (real_planes<T>::serves(context_, shape_)) planes_ = std::make_shared<const real_planes<T>>(context_, shape_);
#endif
}

template <typename Context, typename T>
bool mesh_part<Context, T>::weigh_planes([[maybe_unused]] const mesh_modes<T>& all,
                                         [[maybe_unused]] T* zero_potentials) {
#if defined(__CUDACC__)
  if (planes_ == nullptr) return false;
  planes_->weigh(mesh_.data(), spectrum_.data(), weigh_by_influence<T>{all, zero_potentials});
  return true;
#else
  return false;
#endif
}

template <typename Context, typename T>
const std::uint32_t* mesh_part<Context, T>::systems_of(const smooth_input<T>& input) const {
  return systems_ > 1 ? input.all.system_of : nullptr;
}

template <typename Context, typename T>
void mesh_part<Context, T>::prepare(const smooth_input<T>& input) {
  plan_access::set_points(*spreading_, input.fractions, systems_of(input));
}

template <typename Context, typename T>
mesh_modes<T> mesh_part<Context, T>::modes(const ewald_domain<T>* domains) const {
  mesh_modes<T> result{};
  result.domains = domains;
  result.row = transform_->spectrum_row();
  result.apart = transform_->spectrum_size() / systems_;
  result.law = law_;
  const T* factor = factors_.data();
  for (int axis = 0; axis < 3; ++axis) {
    result.extent[axis] = shape_.extent[axis];
    result.factors[axis] = factor;
    factor += shape_.extent[axis] / 2 + 1;
  }
  return result;
}

template <typename Context, typename T>
void mesh_part<Context, T>::compute(const smooth_input<T>& input, const smooth_output<T>& output) {
  plan_access::set_points_async(*spreading_, input.fractions, systems_of(input));
  spreading_->spread_async(input.charges, mesh_.data());
  if (systems_ > 1) {
    for_each(context_, "ewald.add_ends", ends_.systems * ends_.shared() * ends_.layer,
             add_ends<T>{ends_, ends_.view(mesh_.data(), mesh_.size())});
  }
  const mesh_modes<T> all = modes(input.all.domains);
  if (output.virials != nullptr || !weigh_planes(all, output.zero_potentials)) weigh(all, output);
  if (systems_ > 1) {
    for_each(context_, "ewald.copy_ends", ends_.systems * ends_.beyond() * ends_.layer,
             copy_ends<T>{ends_, ends_.view(mesh_.data(), mesh_.size())});
  }
  spreading_->interpolate_with_gradient_async(mesh_.data(), output.potentials, output.gradients);
}

template <typename Context, typename T>
void mesh_part<Context, T>::weigh(const mesh_modes<T>& all, const smooth_output<T>& output) {
  transform_->to_modes(mesh_.data(), spectrum_.data(), -1);
  T* const numbers = reinterpret_cast<T*>(spectrum_.data());
  if (output.virials != nullptr) {
    sum_by_system(context_, all, systems_, transform_->spectrum_size(), virial_of_mode<T>{all, numbers}, output.virials,
                  scratch_);
  }
  for_each(context_, "ewald.influence", transform_->spectrum_size(),
           multiply_by_influence<T>{all, numbers, output.zero_potentials});
  transform_->to_mesh(spectrum_.data(), mesh_.data(), 1);
}

template <typename Context, typename T>
std::size_t mesh_part<Context, T>::bytes() const {
  std::size_t sum = spreading_->bytes() + transform_->bytes() + factors_.bytes() + mesh_.bytes() + spectrum_.bytes() +
                    scratch_.bytes();
#if defined(__CUDACC__)
  if (planes_ != nullptr) sum += planes_->bytes();
#endif
  return sum;
}

template class mesh_part<backend_context, float>;
template class mesh_part<backend_context, double>;

}  // namespace quadrat::detail
