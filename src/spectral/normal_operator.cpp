// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/spectral/normal_operator.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/backend.hpp"
#include "mesh/checks.hpp"
#include "mesh/shape.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "spectral/checks.hpp"
#include "spectral/fill_ones.hpp"
#include "spectral/move_modes.hpp"
#include "spectral/transform.hpp"

namespace quadrat {

namespace {

/// Index: mesh point, of complex values.
template <typename T>
struct multiply_by_kernel {
  T* mesh;
  const T* kernel;
  T factor;

  QUADRAT_HD void operator()(std::size_t i) const {
    const T times = factor * kernel[i];
    mesh[2 * i] *= times;
    mesh[2 * i + 1] *= times;
  }
};

}  // namespace

template <typename Context, typename T, int D>
struct normal_operator<Context, T, D>::implementation {
  using plan_type = nufft_plan<Context, T, D>;

  implementation(const Context& where, const vec<int, D>& modes, double wanted, const nufft_options& how)
      : context(where), options(how), tolerance(wanted), problem(detail::nufft_problem_of(modes, how)) {
    require(options.systems == 1, "there are ", options.systems, " systems; the normal operator is for one");
    require(options.values == nufft_values::complex, "the normal operator takes complex values, not real ones");
    for (const int count : problem.modes) require(count <= detail::most_mesh_extent, problem.too_large());
    bound = make_plan(0).error_bound();
  }

  [[nodiscard]] vec<int, D> kernel_modes() const {
    return make_vec<int, D>([&](int d) { return 2 * problem.modes[3 - D + d] - 1; });
  }
  /// A mesh so large that modes shifted by up to K - 1 do not overlap.
  [[nodiscard]] detail::mesh_extents extent() const {
    detail::mesh_extents result{{1, 1, 1}};
    for (int d = 0; d < D; ++d) {
      result.axis[3 - D + d] = detail::good_fft_size(2 * problem.modes[3 - D + d] - 1, true);
    }
    return result;
  }
  [[nodiscard]] plan_type make_plan(std::size_t own_bytes) const;
  [[nodiscard]] detail::mode_map<T> map(const detail::nufft_problem& which, std::size_t row) const;
  [[nodiscard]] array<std::complex<T>, Context> sum(const points_view<T, D>& points, const T* weights);
  void allocate();
  void set_points(const points_view<T, D>& points, const T* weights);
  void apply(const T* modes, T* result, int sign);

  Context context;
  nufft_options options;
  double tolerance;
  detail::nufft_problem problem;
  double bound = 0;
  std::unique_ptr<detail::mode_transform<T>> transform;
  array<T, Context> ones;    ///< the factors of modes
  array<T, Context> mesh;    ///< complex numbers
  array<T, Context> kernel;  ///< the transform of the inner sums, which is real, by mesh point
  bool usable = false;
};

/// The plan for the inner sums. Their modes at -k are the conjugates of those at k, so the values (the weights) are
/// real.
template <typename Context, typename T, int D>
nufft_plan<Context, T, D> normal_operator<Context, T, D>::implementation::make_plan(std::size_t own_bytes) const {
  nufft_options how = options;
  how.values = nufft_values::real;
  how.order = mode_order::centered;
  if (how.most_bytes != 0) {
    require(own_bytes < how.most_bytes, "the normal operator needs ", own_bytes, " bytes; ", how.most_bytes,
            " are allowed");
    how.most_bytes -= own_bytes;
  }
  try {
    return plan_type(context, kernel_modes(), tolerance, how);
  } catch (const argument_error& error) {
    throw argument_error(message("the normal operator needs 2 K - 1 modes for K: ", error.what()));
  }
}

template <typename Context, typename T, int D>
detail::mode_map<T> normal_operator<Context, T, D>::implementation::map(const detail::nufft_problem& which,
                                                                        std::size_t row) const {
  detail::mode_map<T> map{};
  const auto nodes = extent();
  for (int axis = 0; axis < 3; ++axis) {
    map.modes[axis] = which.modes[axis];
    map.stored[axis] = which.stored(axis);
    map.extent[axis] = nodes.axis[axis];
    map.factor[axis] = ones.data();
  }
  map.row = row;
  map.fft_order = !which.real && options.order == mode_order::fft;
  map.real = which.real;
  return map;
}

template <typename Context, typename T, int D>
void normal_operator<Context, T, D>::implementation::allocate() {
  if (transform != nullptr) return;
  const auto nodes = extent();
  const auto size = static_cast<std::size_t>(nodes.size());
  mesh = array<T, Context>(context, 2 * size);
  kernel = array<T, Context>(context, size);
  const int* const modes = problem.modes;
  ones = array<T, Context>(context, static_cast<std::size_t>(*std::max_element(modes, modes + 3)));
  for_each(context, "spectral.ones", ones.size(), detail::fill_ones<T>{ones.data()});
  transform = detail::make_mode_transform<T>(context, problem.transform(nodes), options.fft);
}

/// The inner sums of m - k from -(K - 1) to K - 1; along the last axis from 0 on.
template <typename Context, typename T, int D>
array<std::complex<T>, Context> normal_operator<Context, T, D>::implementation::sum(const points_view<T, D>& points,
                                                                                    const T* weights) {
  plan_type plan = make_plan(3 * static_cast<std::size_t>(extent().size()) * sizeof(T));
  plan.set_points(points);
  bound = plan.error_bound();
  array<T, Context> all_one(context, weights == nullptr ? points.count : 0);
  if (weights == nullptr) for_each(context, "spectral.ones", points.count, detail::fill_ones<T>{all_one.data()});
  array<std::complex<T>, Context> sums(context, plan.mode_count());
  plan.type_1_async(weights == nullptr ? all_one.data() : weights, sums.data());
  return sums;
}

template <typename Context, typename T, int D>
void normal_operator<Context, T, D>::implementation::set_points(const points_view<T, D>& points, const T* weights) {
  usable = false;
  const auto sums = sum(points, weights);
  allocate();
  const auto whole = detail::nufft_problem_of(kernel_modes(), [] {
    nufft_options real;
    real.values = nufft_values::real;
    return real;
  }());
  const auto to_kernel = detail::make_mode_transform<T>(context, whole.transform(extent()), options.fft);
  auto* const spectrum = reinterpret_cast<std::complex<T>*>(mesh.data());  // the mesh has room for it
  to_kernel->clear(kernel.data(), spectrum);
  const auto where = map(whole, to_kernel->spectrum_row());
  const T* const from = reinterpret_cast<const T*>(sums.data());
  detail::move_all(context, "spectral.write_modes",
                   detail::write_modes<T>{where, from, where.view(mesh.data(), mesh.size()), false});
  to_kernel->to_mesh(spectrum, kernel.data(), 1);
  context.synchronize();
  usable = true;
}

template <typename Context, typename T, int D>
void normal_operator<Context, T, D>::implementation::apply(const T* modes, T* result, int sign) {
  const auto where = map(problem, transform->spectrum_row());
  transform->clear(mesh.data(), nullptr);
  detail::move_all(context, "spectral.write_modes",
                   detail::write_modes<T>{where, modes, where.view(mesh.data(), mesh.size()), false});
  transform->to_mesh(nullptr, mesh.data(), -sign);
  const auto factor = static_cast<T>(1 / extent().size());
  for_each(context, "spectral.multiply", kernel.size(), multiply_by_kernel<T>{mesh.data(), kernel.data(), factor});
  transform->to_modes(mesh.data(), nullptr, sign);
  detail::move_all(context, "spectral.read_modes",
                   detail::read_modes<T>{where, where.template view<const T>(mesh.data(), mesh.size()), result, false});
}

template <typename Context, typename T, int D>
normal_operator<Context, T, D>::normal_operator(const Context& context, const vec<int, D>& modes, double tolerance,
                                                const nufft_options& options)
    : implementation_(std::make_unique<implementation>(context, modes, tolerance, options)) {}

template <typename Context, typename T, int D>
void normal_operator<Context, T, D>::set_points(const points_view<T, D>& points, const T* weights) {
  implementation_->set_points(points, weights);
}

template <typename Context, typename T, int D>
void normal_operator<Context, T, D>::apply_async(const std::complex<T>* modes, std::complex<T>* result,
                                                 const nufft_call& call) {
  require(implementation_->usable, "no points are set; call set_points first (and again where it failed)");
  const int sign = detail::checked_sign(call, -1);
  const std::size_t count = mode_count();
  require_pointer(modes, count, "modes");
  require_pointer(result, count, "the result");
  for (std::size_t v = 0; v < static_cast<std::size_t>(call.vectors); ++v) {
    implementation_->apply(reinterpret_cast<const T*>(modes + v * count), reinterpret_cast<T*>(result + v * count),
                           sign);
  }
}

template <typename Context, typename T, int D>
void normal_operator<Context, T, D>::apply(const std::complex<T>* modes, std::complex<T>* result,
                                           const nufft_call& call) {
  apply_async(modes, result, call);
  implementation_->context.synchronize();
}

template <typename Context, typename T, int D>
std::size_t normal_operator<Context, T, D>::mode_count() const {
  return implementation_->problem.stored_size();
}
template <typename Context, typename T, int D>
double normal_operator<Context, T, D>::error_bound() const {
  return implementation_->bound;
}
template <typename Context, typename T, int D>
vec<int, D> normal_operator<Context, T, D>::mesh() const {
  const auto nodes = implementation_->extent();
  return make_vec<int, D>([&](int d) { return nodes.axis[3 - D + d]; });
}
template <typename Context, typename T, int D>
std::size_t normal_operator<Context, T, D>::bytes() const {
  const implementation& it = *implementation_;
  if (it.transform == nullptr) return 0;
  return it.transform->bytes() + it.ones.bytes() + it.mesh.bytes() + it.kernel.bytes();
}

template class normal_operator<backend_context, float, 1>;
template class normal_operator<backend_context, float, 2>;
template class normal_operator<backend_context, float, 3>;
template class normal_operator<backend_context, double, 1>;
template class normal_operator<backend_context, double, 2>;
template class normal_operator<backend_context, double, 3>;

}  // namespace quadrat
