// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/spectral/nufft_plan.hpp"

#include "core/backend.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "spectral/move_modes.hpp"
#include "spectral/nufft_implementation.hpp"

namespace quadrat {

template <typename Context, typename T, int D>
void nufft_plan<Context, T, D>::implementation::require_usable(const nufft_call& call, nufft_values kind,
                                                               const void* values) const {
  require(usable, "no points are set; call set_points first (and again where it failed)");
  require(kind == options.values, "the plan is for ", real() ? "real" : "complex", " values; these are ",
          real() ? "complex" : "real");
  (void)detail::checked_sign(call, 1);
  require_pointer(values, spreading->point_count(), "values");
}

template <typename Context, typename T, int D>
int nufft_plan<Context, T, D>::implementation::checked_sign(const nufft_call& call, nufft_values kind, int usual,
                                                            const void* values, const void* modes) const {
  require_usable(call, kind, values);
  require_pointer(modes, problem.stored_size(), "modes");
  return detail::checked_sign(call, usual);
}

/// One vector, to meshes with ends.
template <typename Context, typename T, int D>
void nufft_plan<Context, T, D>::implementation::spread_one(const T* values, T* to) {
  if (real()) {
    spreading->spread_async(values, to);
  } else {
    spreading->spread_async(reinterpret_cast<const std::complex<T>*>(values), reinterpret_cast<std::complex<T>*>(to));
  }
  if (problem.systems == 1) return;
  const auto all = ends();
  for_each(context, "spectral.add_ends", all.systems * all.shared() * all.layer,
           detail::add_ends<T>{all, all.view(to, mesh.size())});
}

template <typename Context, typename T, int D>
void nufft_plan<Context, T, D>::implementation::interpolate_one(T* from, T* values) {
  if (problem.systems > 1) {
    const auto all = ends();
    for_each(context, "spectral.copy_ends", all.systems * all.beyond() * all.layer,
             detail::copy_ends<T>{all, all.view(from, mesh.size())});
  }
  if (real()) {
    spreading->interpolate_async(from, values);
  } else {
    spreading->interpolate_async(reinterpret_cast<const std::complex<T>*>(from),
                                 reinterpret_cast<std::complex<T>*>(values));
  }
}

template <typename Context, typename T, int D>
void nufft_plan<Context, T, D>::implementation::type_1(const T* values, T* modes, const nufft_call& call, int sign) {
  const auto where = map();
  const std::size_t count = spreading->point_count() * (real() ? 1 : 2);
  for (std::size_t v = 0; v < static_cast<std::size_t>(call.vectors); ++v) {
    T* const to = modes + 2 * v * where.size();
    spread_one(values + v * count, mesh.data());
    const T* from = transform->to_modes_anywhere(mesh.data(), spectrum.data(), real() ? -1 : sign);
    detail::move_all(context, "spectral.read_modes",
                     detail::read_modes<T>{where, where.view(from, held()), to, real() && sign > 0});
  }
}

template <typename Context, typename T, int D>
void nufft_plan<Context, T, D>::implementation::type_2(const T* modes, T* values, const nufft_call& call, int sign) {
  const auto where = map();
  const std::size_t count = spreading->point_count() * (real() ? 1 : 2);
  for (std::size_t v = 0; v < static_cast<std::size_t>(call.vectors); ++v) {
    transform->clear(mesh.data(), spectrum.data());
    const auto to = where.view(real() ? reinterpret_cast<T*>(spectrum.data()) : mesh.data(), held());
    detail::move_all(context, "spectral.write_modes",
                     detail::write_modes<T>{where, modes + 2 * v * where.size(), to, real() && sign < 0});
    if constexpr (std::is_same_v<Context, cuda_context>) {
      if (real()) {
        for_each(context, "spectral.pair_modes", where.systems * where.lines(), detail::pair_modes<T>{where, to});
      }
    }
    interpolate_one(transform->to_mesh_anywhere(spectrum.data(), mesh.data(), real() ? 1 : sign), values + v * count);
  }
}

/// Spreads only. Several systems use the plan's internal meshes, which have ends.
template <typename Context, typename T, int D>
void nufft_plan<Context, T, D>::implementation::spread(const T* values, T* to, const nufft_call& call,
                                                       nufft_values kind) {
  require_usable(call, kind, values);
  require_pointer(to, mesh.size(), "mesh values");
  const auto all = ends();
  const std::size_t size = all.systems * all.extent * all.layer;
  const std::size_t count = spreading->point_count() * (real() ? 1 : 2);
  for (std::size_t v = 0; v < static_cast<std::size_t>(call.vectors); ++v) {
    if (all.systems == 1) {
      spread_one(values + v * count, to + v * size);
      continue;
    }
    spread_one(values + v * count, mesh.data());
    for_each(context, "spectral.take_meshes", size,
             detail::leave_out_ends<T>{all, all.view(mesh.data(), mesh.size()), to + v * size});
  }
}

template <typename Context, typename T, int D>
void nufft_plan<Context, T, D>::implementation::interpolate(const T* from, T* values, const nufft_call& call,
                                                            nufft_values kind) {
  require_usable(call, kind, values);
  require_pointer(from, mesh.size(), "mesh values");
  const auto all = ends();
  const std::size_t size = all.systems * all.extent * all.layer;
  const std::size_t count = spreading->point_count() * (real() ? 1 : 2);
  for (std::size_t v = 0; v < static_cast<std::size_t>(call.vectors); ++v) {
    if (all.systems == 1) {
      interpolate_one(const_cast<T*>(from) + v * size, values + v * count);  // only meshes with ends are changed
      continue;
    }
    for_each(context, "spectral.give_meshes", size,
             detail::make_room_for_ends<T>{all, from + v * size, all.view(mesh.data(), mesh.size())});
    interpolate_one(mesh.data(), values + v * count);
  }
}

template <typename Context, typename T, int D>
nufft_plan<Context, T, D>::nufft_plan(const Context& context, const vec<int, D>& modes, double tolerance,
                                      const nufft_options& options)
    : implementation_(std::make_unique<implementation>(context, modes, tolerance, options)) {}

template <typename Context, typename T, int D>
void nufft_plan<Context, T, D>::set_points(const points_view<T, D>& points, const std::uint32_t* system_of_point) {
  implementation_->set_points(points, system_of_point);
}

template <typename Context, typename T, int D>
void nufft_plan<Context, T, D>::type_1_async(const std::complex<T>* values, std::complex<T>* modes,
                                             const nufft_call& call) {
  const int sign = implementation_->checked_sign(call, nufft_values::complex, 1, values, modes);
  implementation_->type_1(reinterpret_cast<const T*>(values), reinterpret_cast<T*>(modes), call, sign);
}
template <typename Context, typename T, int D>
void nufft_plan<Context, T, D>::type_1_async(const T* values, std::complex<T>* modes, const nufft_call& call) {
  const int sign = implementation_->checked_sign(call, nufft_values::real, 1, values, modes);
  implementation_->type_1(values, reinterpret_cast<T*>(modes), call, sign);
}
template <typename Context, typename T, int D>
void nufft_plan<Context, T, D>::type_2_async(const std::complex<T>* modes, std::complex<T>* values,
                                             const nufft_call& call) {
  const int sign = implementation_->checked_sign(call, nufft_values::complex, -1, values, modes);
  implementation_->type_2(reinterpret_cast<const T*>(modes), reinterpret_cast<T*>(values), call, sign);
}
template <typename Context, typename T, int D>
void nufft_plan<Context, T, D>::type_2_async(const std::complex<T>* modes, T* values, const nufft_call& call) {
  const int sign = implementation_->checked_sign(call, nufft_values::real, -1, values, modes);
  implementation_->type_2(reinterpret_cast<const T*>(modes), values, call, sign);
}

template <typename Context, typename T, int D>
density_result nufft_plan<Context, T, D>::density_weights(T* weights, const density_options& options) {
  require(implementation_->usable, "no points are set; call set_points first (and again where it failed)");
  const int systems = implementation_->problem.systems;
  require(systems == 1, "there are ", systems, " systems; density_weights is for one");
  return quadrat::density_weights(*implementation_->spreading, weights, options);
}

template <typename Context, typename T, int D>
void nufft_plan<Context, T, D>::set_points_async(const points_view<T, D>& points,
                                                 const std::uint32_t* system_of_point) {
  implementation_->set_points_async(points, system_of_point);
  if constexpr (std::is_same_v<Context, cpu_context>) check();
}
template <typename Context, typename T, int D>
void nufft_plan<Context, T, D>::check() {
  if (implementation_->usable) implementation_->spreading->check();
}

template <typename Context, typename T, int D>
void nufft_plan<Context, T, D>::spread_async(const std::complex<T>* values, std::complex<T>* mesh,
                                             const nufft_call& call) {
  implementation_->spread(reinterpret_cast<const T*>(values), reinterpret_cast<T*>(mesh), call, nufft_values::complex);
}
template <typename Context, typename T, int D>
void nufft_plan<Context, T, D>::spread_async(const T* values, T* mesh, const nufft_call& call) {
  implementation_->spread(values, mesh, call, nufft_values::real);
}
template <typename Context, typename T, int D>
void nufft_plan<Context, T, D>::interpolate_async(const std::complex<T>* mesh, std::complex<T>* values,
                                                  const nufft_call& call) {
  implementation_->interpolate(reinterpret_cast<const T*>(mesh), reinterpret_cast<T*>(values), call,
                               nufft_values::complex);
}
template <typename Context, typename T, int D>
void nufft_plan<Context, T, D>::interpolate_async(const T* mesh, T* values, const nufft_call& call) {
  implementation_->interpolate(mesh, values, call, nufft_values::real);
}

template <typename Context, typename T, int D>
std::size_t nufft_plan<Context, T, D>::point_count() const {
  return implementation_->usable ? implementation_->spreading->point_count() : 0;
}
template <typename Context, typename T, int D>
std::size_t nufft_plan<Context, T, D>::mode_count() const {
  return implementation_->problem.stored_size();
}
template <typename Context, typename T, int D>
double nufft_plan<Context, T, D>::error_bound() const {
  return implementation_->window().error;
}
template <typename Context, typename T, int D>
int nufft_plan<Context, T, D>::width() const {
  return implementation_->window().window.width;
}
template <typename Context, typename T, int D>
double nufft_plan<Context, T, D>::oversampling() const {
  return implementation_->window().oversampling;
}
template <typename Context, typename T, int D>
const mesh_window<T>& nufft_plan<Context, T, D>::window() const {
  return implementation_->window().window;
}
template <typename Context, typename T, int D>
vec<int, D> nufft_plan<Context, T, D>::mesh() const {
  const auto extent = implementation_->problem.mesh(oversampling());
  return make_vec<int, D>([&](int d) { return extent.axis[3 - D + d]; });
}
template <typename Context, typename T, int D>
explanation nufft_plan<Context, T, D>::explanation() const {
  return implementation_->explanation();
}
template <typename Context, typename T, int D>
std::string_view nufft_plan<Context, T, D>::method() const {
  const auto& spreading = implementation_->spreading;
  return spreading == nullptr ? std::string_view() : spreading->method();
}
template <typename Context, typename T, int D>
std::size_t nufft_plan<Context, T, D>::bytes() const {
  const implementation& plan = *implementation_;
  if (plan.built == 0) return 0;
  return plan.spreading->bytes() + plan.transform->bytes() + plan.factors.bytes() + plan.mesh.bytes() +
         plan.spectrum.bytes();
}

template class nufft_plan<backend_context, float, 1>;
template class nufft_plan<backend_context, float, 2>;
template class nufft_plan<backend_context, float, 3>;
template class nufft_plan<backend_context, double, 1>;
template class nufft_plan<backend_context, double, 2>;
template class nufft_plan<backend_context, double, 3>;

}  // namespace quadrat
