// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/spectral/nufft_plan.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "core/backend.hpp"
#include "mesh/checks.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/mesh/spread_plan.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "spectral/accuracy.hpp"
#include "spectral/checks.hpp"
#include "spectral/modes.hpp"
#include "spectral/transform.hpp"

namespace quadrat {

template <typename Context, typename T, int D>
struct nufft_plan<Context, T, D>::implementation {
  implementation(const Context& where, const vec<int, D>& modes, double tolerance, const nufft_options& wanted)
      : context(where), options(wanted), problem(detail::nufft_problem_of(modes, wanted)) {
    windows =
        detail::transform_windows<T>({wanted.window, D, wanted.oversampling, detail::checked_tolerance(tolerance)});
    std::erase_if(windows, [&](const auto& window) { return !problem.fits(window.oversampling); });
    require(!windows.empty(), problem.too_large());
    for (const auto& window : windows) detail::require_spread_method(wanted.method, where, window.window.width);
    detail::require_fft_library<T>(wanted.fft, where);
    choose(static_cast<double>(problem.stored_size()));
  }

  [[nodiscard]] const detail::transform_window<T>& window() const { return windows[chosen]; }
  [[nodiscard]] bool real() const { return options.values == nufft_values::real; }
  void choose(double points);
  void build();
  [[nodiscard]] std::size_t own_bytes(const detail::mesh_extents& extent) const;
  void set_points(const points_view<T, D>& points);
  [[nodiscard]] detail::mode_map<T> map() const;
  void set_points_asynchronously(const points_view<T, D>& points);
  [[nodiscard]] int checked_sign(const nufft_call& call, nufft_values kind, int usual, const void* values,
                                 const void* modes) const;
  void require_usable(nufft_values kind) const;
  void type_1(const T* values, T* modes, const nufft_call& call, int sign);
  void type_2(const T* modes, T* values, const nufft_call& call, int sign);

  Context context;
  nufft_options options;
  detail::nufft_problem problem;
  std::vector<detail::transform_window<T>> windows;
  std::size_t chosen = 0;
  std::size_t built = 0;  ///< the window, plus 1, that all that follows is for; 0: there is nothing
  std::unique_ptr<spread_plan<Context, T, D>> spreading;
  std::unique_ptr<detail::mode_transform<T>> transform;
  array<T, Context> factors;  ///< 1 / transform of the window, axis by axis
  array<T, Context> mesh;
  array<std::complex<T>, Context> spectrum;
  bool usable = false;
};

/// The window with the least expected time.
template <typename Context, typename T, int D>
void nufft_plan<Context, T, D>::implementation::choose(double points) {
  double least = 0;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const auto extent = problem.mesh(windows[i].oversampling);
    const double cost = detail::transform_cost({std::is_same_v<Context, cuda_context>, sizeof(T) == 4, real() ? 1 : 2,
                                                D, points, extent.size(), windows[i].window.width});
    if (i > 0 && cost >= least) continue;
    least = cost;
    chosen = i;
  }
}

/// Bytes of the plan itself, but not of spreading.
template <typename Context, typename T, int D>
std::size_t nufft_plan<Context, T, D>::implementation::own_bytes(const detail::mesh_extents& extent) const {
  return static_cast<std::size_t>(extent.size()) * sizeof(T) * 2;
}

/// Everything that depends on the window and the mesh.
template <typename Context, typename T, int D>
void nufft_plan<Context, T, D>::implementation::build() {
  if (built == chosen + 1) return;
  built = 0;
  spreading.reset();
  transform.reset();
  const mesh_window<T>& shape = window().window;
  const auto extent = problem.mesh(window().oversampling);
  const std::size_t own = own_bytes(extent);
  require(options.most_bytes == 0 || own < options.most_bytes, "a mesh of ", extent.size(), " points needs ", own,
          " bytes; ", options.most_bytes, " are allowed");
  spread_options how;
  how.method = options.method;
  how.most_bytes = options.most_bytes == 0 ? 0 : options.most_bytes - own;
  box<T, D> domain{};
  vec<int, D> nodes{};
  for (int d = 0; d < D; ++d) {
    how.exact_lengths[d] = problem.period[d];
    domain.length[d] = static_cast<T>(problem.period[d]);
    domain.lower[d] = static_cast<T>(options.origin[d]);
    domain.periodic[d] = true;
    nodes[d] = extent.axis[3 - D + d];
  }
  spreading = std::make_unique<spread_plan<Context, T, D>>(context, domain, nodes, shape, how);
  transform = detail::make_mode_transform<T>(context, problem.transform(extent), options.fft);
  std::vector<T> host;
  for (int axis = 0; axis < 3; ++axis) {
    const auto values = shape.transforms(problem.modes[axis] / 2 + 1, extent.axis[axis]);
    for (const double value : values) host.push_back(axis < 3 - D ? T(1) : static_cast<T>(1 / value));
  }
  factors = to_device(context, host);
  mesh = array<T, Context>();
  mesh = array<T, Context>(context, static_cast<std::size_t>(extent.size()) * (real() ? 1 : 2));
  spectrum = array<std::complex<T>, Context>();
  spectrum = array<std::complex<T>, Context>(context, transform->spectrum_size());
  built = chosen + 1;
}

template <typename Context, typename T, int D>
void nufft_plan<Context, T, D>::implementation::set_points(const points_view<T, D>& points) {
  usable = false;
  choose(static_cast<double>(points.count));
  build();
  spreading->set_points(points);
  usable = true;
}

template <typename Context, typename T, int D>
void nufft_plan<Context, T, D>::implementation::set_points_asynchronously(const points_view<T, D>& points) {
  require(usable,
          "set_points has not been called, or has failed; it finds the memory that set_points_asynchronously "
          "works in");
  spreading->set_points_asynchronously(points);
}

template <typename Context, typename T, int D>
detail::mode_map<T> nufft_plan<Context, T, D>::implementation::map() const {
  detail::mode_map<T> map{};
  const auto extent = problem.mesh(window().oversampling);
  const T* factor = factors.data();
  for (int axis = 0; axis < 3; ++axis) {
    map.modes[axis] = problem.modes[axis];
    map.stored[axis] = problem.stored(axis);
    map.extent[axis] = extent.axis[axis];
    map.factor[axis] = factor;
    factor += problem.modes[axis] / 2 + 1;
  }
  map.row = transform->spectrum_row();
  map.fft_order = options.order == mode_order::fft;
  map.real = real();
  return map;
}

template <typename Context, typename T, int D>
int nufft_plan<Context, T, D>::implementation::checked_sign(const nufft_call& call, nufft_values kind, int usual,
                                                            const void* values, const void* modes) const {
  require_usable(kind);
  const int sign = detail::checked_sign(call, usual);
  require_pointer(values, spreading->point_count(), "values");
  require_pointer(modes, problem.stored_size(), "modes");
  return sign;
}

template <typename Context, typename T, int D>
void nufft_plan<Context, T, D>::implementation::require_usable(nufft_values kind) const {
  require(usable, "no points are set; call set_points first (and again where it failed)");
  require(kind == options.values, "the plan is for ", real() ? "real" : "complex", " values; these are ",
          real() ? "complex" : "real");
}

template <typename Context, typename T, int D>
void nufft_plan<Context, T, D>::implementation::type_1(const T* values, T* modes, const nufft_call& call, int sign) {
  const auto where = map();
  const std::size_t count = spreading->point_count();
  for (int vector = 0; vector < call.vectors; ++vector) {
    const auto v = static_cast<std::size_t>(vector);
    T* const to = modes + 2 * v * where.size();
    if (real()) {
      spreading->spread(values + v * count, mesh.data());
      transform->to_modes(mesh.data(), spectrum.data(), -1);
    } else {
      spreading->spread(reinterpret_cast<const std::complex<T>*>(values) + v * count,
                        reinterpret_cast<std::complex<T>*>(mesh.data()));
      transform->to_modes(mesh.data(), nullptr, sign);
    }
    const T* from = real() ? reinterpret_cast<const T*>(spectrum.data()) : mesh.data();
    for_each(context, "spectral.read_modes", where.size(), detail::read_modes<T>{where, from, to, real() && sign > 0});
  }
}

template <typename Context, typename T, int D>
void nufft_plan<Context, T, D>::implementation::type_2(const T* modes, T* values, const nufft_call& call, int sign) {
  const auto where = map();
  const std::size_t count = spreading->point_count();
  for (int vector = 0; vector < call.vectors; ++vector) {
    const auto v = static_cast<std::size_t>(vector);
    transform->clear(mesh.data(), spectrum.data());
    T* const to = real() ? reinterpret_cast<T*>(spectrum.data()) : mesh.data();
    for_each(context, "spectral.write_modes", where.size(),
             detail::write_modes<T>{where, modes + 2 * v * where.size(), to, real() && sign < 0});
    transform->to_mesh(spectrum.data(), mesh.data(), real() ? 1 : sign);
    if (real()) {
      spreading->interpolate(mesh.data(), values + v * count);
    } else {
      spreading->interpolate(reinterpret_cast<const std::complex<T>*>(mesh.data()),
                             reinterpret_cast<std::complex<T>*>(values) + v * count);
    }
  }
}

template <typename Context, typename T, int D>
nufft_plan<Context, T, D>::nufft_plan(const Context& context, const vec<int, D>& modes, double tolerance,
                                      const nufft_options& options)
    : implementation_(std::make_unique<implementation>(context, modes, tolerance, options)) {}
template <typename Context, typename T, int D>
nufft_plan<Context, T, D>::nufft_plan(nufft_plan&&) noexcept = default;
template <typename Context, typename T, int D>
nufft_plan<Context, T, D>& nufft_plan<Context, T, D>::operator=(nufft_plan&&) noexcept = default;
template <typename Context, typename T, int D>
nufft_plan<Context, T, D>::~nufft_plan() = default;

template <typename Context, typename T, int D>
void nufft_plan<Context, T, D>::set_points(const points_view<T, D>& points) {
  implementation_->set_points(points);
}

template <typename Context, typename T, int D>
void nufft_plan<Context, T, D>::type_1(const std::complex<T>* values, std::complex<T>* modes, const nufft_call& call) {
  const int sign = implementation_->checked_sign(call, nufft_values::complex, 1, values, modes);
  implementation_->type_1(reinterpret_cast<const T*>(values), reinterpret_cast<T*>(modes), call, sign);
}
template <typename Context, typename T, int D>
void nufft_plan<Context, T, D>::type_1(const T* values, std::complex<T>* modes, const nufft_call& call) {
  const int sign = implementation_->checked_sign(call, nufft_values::real, 1, values, modes);
  implementation_->type_1(values, reinterpret_cast<T*>(modes), call, sign);
}
template <typename Context, typename T, int D>
void nufft_plan<Context, T, D>::type_2(const std::complex<T>* modes, std::complex<T>* values, const nufft_call& call) {
  const int sign = implementation_->checked_sign(call, nufft_values::complex, -1, values, modes);
  implementation_->type_2(reinterpret_cast<const T*>(modes), reinterpret_cast<T*>(values), call, sign);
}
template <typename Context, typename T, int D>
void nufft_plan<Context, T, D>::type_2(const std::complex<T>* modes, T* values, const nufft_call& call) {
  const int sign = implementation_->checked_sign(call, nufft_values::real, -1, values, modes);
  implementation_->type_2(reinterpret_cast<const T*>(modes), values, call, sign);
}

template <typename Context, typename T, int D>
density_result nufft_plan<Context, T, D>::density_weights(T* weights, const density_options& options) {
  require(implementation_->usable, "no points are set; call set_points first (and again where it failed)");
  return quadrat::density_weights(implementation_->context, *implementation_->spreading, weights, options);
}

template <typename Context, typename T, int D>
void nufft_plan<Context, T, D>::set_points_asynchronously(const points_view<T, D>& points) {
  implementation_->set_points_asynchronously(points);
}
template <typename Context, typename T, int D>
void nufft_plan<Context, T, D>::check() {
  if (implementation_->usable) implementation_->spreading->check();
}

template <typename Context, typename T, int D>
void nufft_plan<Context, T, D>::spread(const std::complex<T>* values, std::complex<T>* mesh, const nufft_call& call) {
  implementation_->require_usable(nufft_values::complex);
  implementation_->spreading->spread(values, mesh, {call.vectors, false});
}
template <typename Context, typename T, int D>
void nufft_plan<Context, T, D>::spread(const T* values, T* mesh, const nufft_call& call) {
  implementation_->require_usable(nufft_values::real);
  implementation_->spreading->spread(values, mesh, {call.vectors, false});
}
template <typename Context, typename T, int D>
void nufft_plan<Context, T, D>::interpolate(const std::complex<T>* mesh, std::complex<T>* values,
                                            const nufft_call& call) {
  implementation_->require_usable(nufft_values::complex);
  implementation_->spreading->interpolate(mesh, values, {call.vectors, false});
}
template <typename Context, typename T, int D>
void nufft_plan<Context, T, D>::interpolate(const T* mesh, T* values, const nufft_call& call) {
  implementation_->require_usable(nufft_values::real);
  implementation_->spreading->interpolate(mesh, values, {call.vectors, false});
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
