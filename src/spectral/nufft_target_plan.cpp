// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/spectral/nufft_target_plan.hpp"

#include <algorithm>
#include <string>
#include <type_traits>

#include "core/backend.hpp"
#include "core/point_checks.hpp"
#include "mesh/checks.hpp"
#include "mesh/plan_access.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/mesh/spread_plan.hpp"
#include "quadrat/parallel/fault.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/reduce.hpp"
#include "quadrat/parallel/workspace.hpp"
#include "spectral/checks.hpp"
#include "spectral/target_points.hpp"
#include "spectral/transform.hpp"

namespace quadrat {

namespace {

/// data_error about a target instead of a point.
template <typename Call>
void about_targets(const Call& call) {
  try {
    call();
  } catch (const data_error& problem) {
    if (!problem.index()) throw;
    throw data_error(message("targets: ", problem.what()), *problem.index());
  }
}

}  // namespace

template <typename Context, typename T, int D>
struct nufft_target_plan<Context, T, D>::implementation {
  using spread_type = spread_plan<Context, T, D>;

  implementation(const Context& where, double tolerance, const nufft_target_options& wanted)
      : context(where), options(wanted), accuracy(detail::target_accuracy_of<T>(tolerance, D)), faults(where) {
    for (const auto* window : {&accuracy.outer, &accuracy.inner}) {
      detail::require_spread_method(wanted.method, where, window->width);
    }
    detail::require_fft_library<T>(wanted.fft, where);
  }

  [[nodiscard]] detail::point_extents<T, D> extents_of(const points_view<T, D>& points);
  [[nodiscard]] double whole_size() const;
  [[nodiscard]] detail::mesh_view<std::complex<T>> view(array<std::complex<T>, Context>& numbers,
                                                        int detail::target_axis::*extent);
  void set_points(const points_view<T, D>& points, const points_view<T, D>& targets);
  void set_points_async(const points_view<T, D>& points, const points_view<T, D>& targets);
  void check();
  void place(const points_view<T, D>& points, const points_view<T, D>& targets);
  void release();
  void set_plan(std::unique_ptr<spread_type>& plan, bool of_targets, const points_view<T, D>& points, std::size_t held);
  [[nodiscard]] std::size_t left_of_most(std::size_t taken) const;
  void turn(const points_view<T, D>& points, const points_view<T, D>& targets);
  [[nodiscard]] int checked_sign(const nufft_call& call, const void* values, const void* results) const;
  void multiply(const std::complex<T>* from, const array<std::complex<T>, Context>& turns, int sign,
                std::complex<T>* to);

  Context context;
  nufft_target_options options;
  detail::target_accuracy<T> accuracy;
  detail::target_axis axes[D] = {};
  std::unique_ptr<spread_type> spreading;                        ///< onto the mesh
  std::unique_ptr<spread_type> reading;                          ///< from the box, at the targets
  std::unique_ptr<detail::box_transform<Context, T>> transform;  ///< from the mesh, as modes, to the box
  array<std::complex<T>, Context> mesh, box, turned, point_turns, target_turns;
  std::size_t points_set = 0, targets_set = 0;
  std::size_t point_room = 0, target_room = 0;  ///< of the last set_points
  std::size_t own_bytes = 0;                    ///< of everything except the two plans
  fault_state<Context> faults;                  ///< of targets beyond the box
  bool placed = false;                          ///< the last set_points succeeded
  bool usable = false;
  bool unchecked = false;  ///< faults may have been raised since
};

template <typename Context, typename T, int D>
detail::point_extents<T, D> nufft_target_plan<Context, T, D>::implementation::extents_of(
    const points_view<T, D>& points) {
  workspace<Context> scratch;  // temporary: not counted in the bytes of a plan for these points
  const auto found = reduce(context, "spectral.extents", points.count, detail::extents_of_point<T, D>{points},
                            detail::join_extents{}, detail::point_extents<T, D>::none(), scratch);
  if (found.broken >= points.count) return found;
  const vec<T, D> point = detail::point_to_host(context, points, found.broken);
  throw data_error(message("point ", found.broken, " at ", detail::vector_text(point), " is not finite"), found.broken);
}

/// Mesh points of the whole transform from the mesh to the box.
template <typename Context, typename T, int D>
double nufft_target_plan<Context, T, D>::implementation::whole_size() const {
  double size = 1;
  for (const auto& axis : axes) size *= axis.size;
  return size;
}

/// The mesh or the box, of all axes.
template <typename Context, typename T, int D>
detail::mesh_view<std::complex<T>> nufft_target_plan<Context, T, D>::implementation::view(
    array<std::complex<T>, Context>& numbers, int detail::target_axis::*extent) {
  detail::mesh_view<std::complex<T>> result{numbers.data(), {1, 1, 1}};
  for (int d = 0; d < D; ++d) result.extent[3 - D + d] = static_cast<std::size_t>(axes[d].*extent);
  detail::require_whole(result, numbers.size());
  return result;
}

template <typename Context, typename T, int D>
void nufft_target_plan<Context, T, D>::implementation::release() {
  spreading.reset();
  reading.reset();
  transform.reset();
  if (options.most_bytes == 0) return;
  for (auto* numbers : {&mesh, &box, &turned, &point_turns, &target_turns})
    *numbers = array<std::complex<T>, Context>();
}

/// Finds the meshes, and makes the parts that depend on their sizes, unless they exist.
template <typename Context, typename T, int D>
void nufft_target_plan<Context, T, D>::implementation::place(const points_view<T, D>& points,
                                                             const points_view<T, D>& targets) {
  const auto of_points = extents_of(points);
  detail::point_extents<T, D> of_targets;
  about_targets([&] { of_targets = extents_of(targets); });
  bool same = transform != nullptr && options.most_bytes == 0;
  std::size_t nodes = 1, in_box = 1;
  for (int d = 0; d < D; ++d) {
    const auto axis = detail::target_axis_of<T>(accuracy, of_points.along(d), of_targets.along(d), d);
    same = same && axis.same_sizes(axes[d]);
    axes[d] = axis;
    nodes *= static_cast<std::size_t>(axis.nodes);
    in_box *= static_cast<std::size_t>(axis.box);
  }
  require(whole_size() <= static_cast<double>(max_count), "points and targets need a transform of ", whole_size(),
          " mesh points; at most ", max_count, " are possible");
  if (!same) release();
  own_bytes =
      (nodes + in_box + points.count + targets.count + std::max(points.count, targets.count)) * sizeof(std::complex<T>);
  const auto problem = detail::target_box(accuracy, axes, D);
  own_bytes += detail::box_transform_bytes<T>(context, problem, options.fft);
  std::size_t held = transform == nullptr ? 0 : transform->bytes();
  for (const auto* numbers : {&mesh, &box, &turned, &point_turns, &target_turns}) held += numbers->bytes();
  detail::require_target_memory(context.memory(), static_cast<double>(nodes), own_bytes, held, options.most_bytes);
  if (!same) transform = detail::make_box_transform<Context, T>(context, problem, options.fft);
  mesh.resize_discarding(context, nodes);
  box.resize_discarding(context, in_box);
}

/// The bytes allowed beyond the arrays and `taken`, at least 1; 0: all free memory.
template <typename Context, typename T, int D>
std::size_t nufft_target_plan<Context, T, D>::implementation::left_of_most(std::size_t taken) const {
  if (options.most_bytes == 0) return 0;
  return options.most_bytes > own_bytes + taken ? options.most_bytes - own_bytes - taken : 1;
}

/// Makes one of the plans and sets its points. It replaces the previous plan and keeps its method for the same number
/// of points. Axes are open, so a footprint beyond the ends is an error. `held`: bytes of the other plan.
template <typename Context, typename T, int D>
void nufft_target_plan<Context, T, D>::implementation::set_plan(std::unique_ptr<spread_type>& plan, bool of_targets,
                                                                const points_view<T, D>& points, std::size_t held) {
  spread_options how;
  how.most_bytes = left_of_most(held);
  how.method = plan != nullptr && plan->point_count() == points.count ? std::string(plan->method()) : options.method;
  plan.reset();
  quadrat::box<T, D> domain{};
  vec<int, D> extent{};
  for (int d = 0; d < D; ++d) {
    const detail::target_axis& axis = axes[d];
    extent[d] = of_targets ? axis.box : axis.nodes;
    how.exact_lengths[d] = extent[d] * (of_targets ? axis.target_spacing : axis.spacing);
    domain.lower[d] = static_cast<T>(of_targets ? axis.target_lower : axis.lower);
    domain.length[d] = static_cast<T>(how.exact_lengths[d]);
  }
  plan = std::make_unique<spread_type>(context, domain, extent, of_targets ? accuracy.inner : accuracy.outer, how);
  plan->set_points(points);
}

template <typename Context, typename T, int D>
void nufft_target_plan<Context, T, D>::implementation::turn(const points_view<T, D>& points,
                                                            const points_view<T, D>& targets) {
  turned.resize_discarding(context, std::max(points.count, targets.count));
  point_turns.resize_discarding(context, points.count);
  target_turns.resize_discarding(context, targets.count);
  const auto of_axes = [&](double detail::target_axis::*member) {
    return make_vec<double, D>([&](int d) { return axes[d].*member; });
  };
  const auto lower = of_axes(&detail::target_axis::target_lower), half = of_axes(&detail::target_axis::target_half);
  for_each(context, "spectral.turn_points", points.count,
           detail::turn_point<T, D>{points, lower, half, reinterpret_cast<T*>(point_turns.data())});
  for_each(context, "spectral.turn_targets", targets.count,
           detail::turn_target<T, D>{targets, lower, half, of_axes(&detail::target_axis::middle),
                                     of_axes(&detail::target_axis::spacing), accuracy.inverse,
                                     reinterpret_cast<T*>(target_turns.data()), faults.flag()});
}

template <typename Context, typename T, int D>
void nufft_target_plan<Context, T, D>::implementation::set_points(const points_view<T, D>& points,
                                                                  const points_view<T, D>& targets) {
  usable = placed = unchecked = false;
  detail::require_points(points, "points");
  detail::require_points(targets, "targets");
  place(points, targets);
  faults.clear(context);
  set_plan(spreading, false, points, 0);
  about_targets([&] { set_plan(reading, true, targets, spreading->bytes()); });
  turn(points, targets);
  context.synchronize();  // the caller may free the points
  points_set = points.count;
  targets_set = targets.count;
  point_room = points.count;
  target_room = targets.count;
  usable = placed = true;
}

template <typename Context, typename T, int D>
void nufft_target_plan<Context, T, D>::implementation::set_points_async(const points_view<T, D>& points,
                                                                        const points_view<T, D>& targets) {
  detail::require_points(points, "points");
  detail::require_points(targets, "targets");
  require(placed,
          "set_points has not been called, or has failed; set_points_async works in the meshes and "
          "the memory that it makes");
  require(points.count <= point_room && targets.count <= target_room, "there are ", points.count, " points and ",
          targets.count, " targets, but the last set_points had ", point_room, " and ", target_room,
          "; set_points_async works in the memory of that call");
  if (unchecked && !usable) faults.clear(context);
  usable = false;
  detail::plan_access::set_points_async(*spreading, points, nullptr);
  detail::plan_access::set_points_async(*reading, targets, nullptr);
  turn(points, targets);
  points_set = points.count;
  targets_set = targets.count;
  usable = unchecked = true;
}

template <typename Context, typename T, int D>
void nufft_target_plan<Context, T, D>::implementation::check() {
  if (!unchecked) return context.synchronize();
  try {
    spreading->check();
    about_targets([&] { reading->check(); });
    const fault_report fault = faults.read(context);
    if (fault.kind != fault_kind::none) {
      throw data_error(message("targets: point ", fault.index,
                               " of set_points_async lies beyond the extents of the last set_points"),
                       fault.index);
    }
  } catch (const data_error&) {
    usable = false;
    throw;
  }
}

template <typename Context, typename T, int D>
int nufft_target_plan<Context, T, D>::implementation::checked_sign(const nufft_call& call, const void* values,
                                                                   const void* results) const {
  require(usable, "no points are set; call set_points first (and again where it failed)");
  require_pointer(values, points_set, "values");
  require_pointer(results, targets_set, "results");
  return detail::checked_sign(call, 1);
}

/// Multiplies the values of all points or all targets.
template <typename Context, typename T, int D>
void nufft_target_plan<Context, T, D>::implementation::multiply(const std::complex<T>* from,
                                                                const array<std::complex<T>, Context>& turns, int sign,
                                                                std::complex<T>* to) {
  for_each(context, "spectral.turn", turns.size(),
           detail::multiply_turns<T>{reinterpret_cast<const T*>(from), reinterpret_cast<const T*>(turns.data()),
                                     reinterpret_cast<T*>(to), static_cast<T>(sign)});
}

template <typename Context, typename T, int D>
nufft_target_plan<Context, T, D>::nufft_target_plan(const Context& context, double tolerance,
                                                    const nufft_target_options& options)
    : implementation_(std::make_unique<implementation>(context, tolerance, options)) {}

template <typename Context, typename T, int D>
void nufft_target_plan<Context, T, D>::set_points(const points_view<T, D>& points, const points_view<T, D>& targets) {
  implementation_->set_points(points, targets);
}

template <typename Context, typename T, int D>
void nufft_target_plan<Context, T, D>::set_points_async(const points_view<T, D>& points,
                                                        const points_view<T, D>& targets) {
  implementation_->set_points_async(points, targets);
  if constexpr (std::is_same_v<Context, cpu_context>) check();
}

template <typename Context, typename T, int D>
void nufft_target_plan<Context, T, D>::check() {
  implementation_->check();
}

template <typename Context, typename T, int D>
void nufft_target_plan<Context, T, D>::type_3_async(const std::complex<T>* values, std::complex<T>* results,
                                                    const nufft_call& call) {
  implementation& plan = *implementation_;
  const int sign = plan.checked_sign(call, values, results);
  for (std::size_t v = 0; v < static_cast<std::size_t>(call.vectors); ++v) {
    std::complex<T>* const to = results + v * plan.targets_set;
    plan.multiply(values + v * plan.points_set, plan.point_turns, sign, plan.turned.data());
    plan.spreading->spread_async(plan.turned.data(), plan.mesh.data());
    plan.transform->to_box(detail::constant(plan.view(plan.mesh, &detail::target_axis::nodes)),
                           plan.view(plan.box, &detail::target_axis::box), sign);
    plan.reading->interpolate_async(plan.box.data(), to);
    plan.multiply(to, plan.target_turns, sign, to);
  }
}

template <typename Context, typename T, int D>
void nufft_target_plan<Context, T, D>::type_3_adjoint_async(const std::complex<T>* results, std::complex<T>* values,
                                                            const nufft_call& call) {
  implementation& plan = *implementation_;
  const int sign = plan.checked_sign(call, values, results);
  for (std::size_t v = 0; v < static_cast<std::size_t>(call.vectors); ++v) {
    std::complex<T>* const to = values + v * plan.points_set;
    plan.multiply(results + v * plan.targets_set, plan.target_turns, -sign, plan.turned.data());
    plan.reading->spread_async(plan.turned.data(), plan.box.data());
    plan.transform->to_modes(plan.view(plan.box, &detail::target_axis::box),
                             plan.view(plan.mesh, &detail::target_axis::nodes), sign);
    plan.spreading->interpolate_async(plan.mesh.data(), to);
    plan.multiply(to, plan.point_turns, -sign, to);
  }
}

template <typename Context, typename T, int D>
std::size_t nufft_target_plan<Context, T, D>::point_count() const {
  return implementation_->usable ? implementation_->points_set : 0;
}
template <typename Context, typename T, int D>
std::size_t nufft_target_plan<Context, T, D>::target_count() const {
  return implementation_->usable ? implementation_->targets_set : 0;
}
template <typename Context, typename T, int D>
double nufft_target_plan<Context, T, D>::error_bound() const {
  return implementation_->accuracy.error;
}
template <typename Context, typename T, int D>
int nufft_target_plan<Context, T, D>::width() const {
  return implementation_->accuracy.outer.width;
}
template <typename Context, typename T, int D>
std::string_view nufft_target_plan<Context, T, D>::method() const {
  const auto& spreading = implementation_->spreading;
  return spreading == nullptr ? std::string_view() : spreading->method();
}
template <typename Context, typename T, int D>
vec<int, D> nufft_target_plan<Context, T, D>::mesh() const {
  return make_vec<int, D>([&](int d) { return implementation_->axes[d].nodes; });
}
template <typename Context, typename T, int D>
std::size_t nufft_target_plan<Context, T, D>::bytes() const {
  const implementation& plan = *implementation_;
  std::size_t bytes = 0;
  for (const auto* numbers : {&plan.mesh, &plan.box, &plan.turned, &plan.point_turns, &plan.target_turns}) {
    bytes += numbers->bytes();
  }
  for (const auto* of : {&plan.spreading, &plan.reading}) bytes += *of == nullptr ? 0 : (*of)->bytes();
  if (plan.transform != nullptr) bytes += plan.transform->bytes();
  return bytes;
}

template class nufft_target_plan<backend_context, float, 1>;
template class nufft_target_plan<backend_context, float, 2>;
template class nufft_target_plan<backend_context, float, 3>;
template class nufft_target_plan<backend_context, double, 1>;
template class nufft_target_plan<backend_context, double, 2>;
template class nufft_target_plan<backend_context, double, 3>;

}  // namespace quadrat
