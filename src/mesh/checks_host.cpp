// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/checks.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string_view>
#include <vector>

#include "core/automatic.hpp"
#include "core/method_choice.hpp"
#include "core/point_checks.hpp"
#include "core/suggestion.hpp"
#include "mesh/methods.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/lattice.hpp"

namespace quadrat::detail {

namespace {

/// Cells of the mesh along an axis.
[[nodiscard]] int cells_along(int extent, bool periodic, open_ends ends) {
  return periodic || ends == open_ends::lower ? extent : extent - 1;
}

}  // namespace

template <typename T, int D>
mesh_shape make_shape(const box<T, D>& domain, const vec<int, D>& mesh, const mesh_window<T>& window, open_ends ends) {
  require_window(window.width, window.terms);
  mesh_shape shape{{1, 1, 1}, {1, 1, 1}, {true, true, true}, 3 - D};
  double size = 1;
  for (int d = 0; d < D; ++d) {
    require(mesh[d] >= 1 && mesh[d] <= most_mesh_extent, "the mesh has ", mesh[d], " points along axis ", d, "; 1 to ",
            most_mesh_extent, " are possible");
    const int cells = cells_along(mesh[d], domain.periodic[d], ends);
    require(cells >= 1, "the mesh has 1 point along the open axis ", d, "; at least 2 are needed for one at each end");
    const int axis = d + shape.first_axis;
    shape.extent[axis] = mesh[d];
    shape.width[axis] = window.width;
    shape.periodic[axis] = domain.periodic[d];
    size *= mesh[d];
    require(std::isfinite(static_cast<T>(cells) / domain.length[d]), "the box has length ", domain.length[d],
            " along axis ", d, "; it is too thin for ", mesh[d], " mesh points");
  }
  require(size <= static_cast<double>(max_count), "the mesh has ", joined_counts(mesh), " points; at most ", max_count,
          " are possible");
  return shape;
}

mesh_shape stacked(const mesh_shape& one, const mesh_stack& stack) {
  if (stack.systems == 1 && stack.spacing == 0) return one;
  const int axis = one.first_axis;
  require(stack.systems >= 1, "there are ", stack.systems, " systems; at least 1 is needed");
  require(one.periodic[axis] && stack.spacing >= one.extent[axis] + one.width[axis] - 1, "meshes of ", one.extent[axis],
          " points are ", stack.spacing, " points apart, which is too near for windows ", one.width[axis],
          " mesh points wide");
  const double along = static_cast<double>(stack.systems) * stack.spacing;
  const double size = along / one.extent[axis] * static_cast<double>(one.size());
  require(along <= most_stack_extent && size <= static_cast<double>(max_count), "the meshes of ", stack.systems,
          " systems have ", along, " points along the first axis and ", size, " in all; at most ", most_stack_extent,
          " and ", max_count, " are possible");
  mesh_shape shape = one;
  shape.extent[axis] = static_cast<int>(along);
  return shape;
}

template <typename T, int D>
mesh_axis<T> make_mesh_axis(const box<T, D>& domain, int axis, int extent, int width, const spread_options& options,
                            const part_of_axis& part) {
  if (part.cells > 0) {
    box<T, D> whole = domain;
    whole.lower[axis] = static_cast<T>(part.lower);
    whole.length[axis] = static_cast<T>(part.length);
    spread_options exact;
    exact.exact_lengths[axis] = part.length;
    mesh_axis<T> result = make_mesh_axis(whole, axis, part.cells, width, exact);
    result.extent = extent;
    result.begin = static_cast<T>(part.first);
    return result;
  }
  const T length = domain.length[axis];
  const int cells = cells_along(extent, domain.periodic[axis], options.ends);
  const double exact_length = options.exact_lengths[axis];
  const T scale = static_cast<T>(cells) / length;
  // The fused cells - scale * length is exact, so this is the remainder of the quotient to rounding.
  T rest = std::fma(-scale, length, static_cast<T>(cells)) / length;
  if (sizeof(T) == sizeof(float) && exact_length > 0) rest = static_cast<T>(cells / exact_length - scale);
  return {domain.lower[axis],
          domain.upper(axis),
          lattice<T, D>::most_boxes * length,
          scale,
          rest,
          T(1) / static_cast<T>(extent),
          extent,
          width,
          domain.periodic[axis],
          T(0)};
}

template <typename T, int D>
vec<T, 3> gradient_scale(const box<T, D>& domain, const mesh_shape& shape, open_ends ends) {
  vec<T, 3> scale{};
  for (int d = 0; d < D; ++d) {
    const int axis = d + shape.first_axis;
    scale[axis] = static_cast<T>(cells_along(shape.extent[axis], domain.periodic[d], ends)) / domain.length[d];
  }
  return scale;
}

void check_spread_options(const spread_options& options, const plan_details& details) {
  require(options.uses > 0, "the number of uses is ", options.uses, "; it must be positive");
  const int unit = details.compute_unit;
  require(unit == 0 || (unit >= 1 && unit <= 32 && std::has_single_bit(static_cast<unsigned>(unit))),
          "the compute unit is ", unit, " threads; 1, 2, 4, 8, 16 and 32 are possible, and 0 for the rule");
  for (int axis = 0; axis < 3; ++axis) {
    const double length = options.exact_lengths[axis];
    require(length >= 0 && std::isfinite(length), "the exact length along axis ", axis, " is ", length,
            "; it must be that of the box before rounding, or 0");
  }
  require(details.group_size >= 1 && details.group_size <= 1024, "the group size is ", details.group_size,
          "; 1 to 1024 mesh points are possible");
}

namespace {

void require_named(std::string_view name, bool cuda, determinism level, int width) {
  if (is_automatic(name)) return;
  const method_demand demand{spread_method_kind, cuda, level, true};
  require_method<spread_method_list>(demand, name);
  spread_request request{};
  request.cuda = cuda;
  request.level = level;
  request.width = width;
  std::vector<std::string_view> serving;
  spread_method_list::for_each([&](auto method) {
    using method_type = decltype(method);
    const bool suggested = !has_wrong_results<method_type>() && demand.met_by(info_of<method_type>());
    const bool named = method_type::name == name;
    if (does_serve<method_type>(request) && (suggested || named)) serving.push_back(method_type::name);
  });
  require(std::ranges::find(serving, name) != serving.end(), "the ", spread_method_kind, " ", name,
          " does not serve windows ", width, " mesh points wide ", cuda ? "on CUDA" : "on the CPU",
          "; these do: ", joined(serving));
}

}  // namespace

void require_spread_method(std::string_view name, const cpu_context& context, int width) {
  require_named(name, false, context.reproducibility(), width);
}
void require_spread_method(std::string_view name, const cuda_context& context, int width) {
  require_named(name, true, context.reproducibility(), width);
}

void refuse_points_async(std::string_view method, const spread_request& request) {
  const method_demand demand{spread_method_kind, request.cuda, request.level};
  std::vector<std::string_view> able;
  spread_method_list::for_each([&](auto record) {
    using record_type = decltype(record);
    if (of_papers<record_type> || !demand.met_by(info_of<record_type>()) || !does_serve<record_type>(request)) return;
    if (does_set_points_async<record_type>(request)) able.push_back(record_type::name);
  });
  throw argument_error(message("the method ", method,
                               " has to know where points are before it can store them, here at least; call "
                               "set_points",
                               able.empty() ? "" : ", or use one of ", joined(able)));
}

namespace {

/// The message about a point outside the box; empty if that is not a fault along the axis.
template <typename T, int D>
std::string place_complaint(const box<T, D>& domain, const spread_options& options, T x, int axis) {
  constexpr int most = lattice<T, D>::most_boxes;
  const T lower = domain.lower[axis], upper = domain.upper(axis);
  if (!domain.periodic[axis]) {
    if (options.accept_outside || (x >= lower && x <= upper)) return {};
    return message(" is outside the box along the open axis ", axis, ", where ", lower, " to ", upper,
                   " is accepted, unless accept_outside is set");
  }
  if (std::fabs(x - lower) <= most * domain.length[axis]) return {};
  return message(" is ", (x - lower) / domain.length[axis], " periods away along axis ", axis, "; at most ", most,
                 " are possible");
}

/// The message about a footprint that leaves the mesh along the axis; empty if it stays inside.
template <typename T, int D>
std::string footprint_complaint(const box<T, D>& domain, const mesh_shape& shape, const spread_options& options,
                                const part_of_axis& part, T x, int d) {
  if (domain.periodic[d]) return {};
  const int extent = shape.extent[d + shape.first_axis], width = shape.width[d + shape.first_axis];
  const mesh_axis<T> axis = make_mesh_axis(domain, d, extent, width, options, part);
  const int first = axis.moved_inside(axis.locate(x)).first;
  if (first >= 0 && first + width <= extent) return {};
  return message(" has a footprint that leaves the mesh along the open axis ", d, ": mesh points ", first, " to ",
                 first + width - 1, " of 0 to ", extent - 1, " (with clip, the part outside is ignored)");
}

}  // namespace

template <typename T, int D>
std::string point_complaint(const box<T, D>& domain, const mesh_shape& shape, const spread_options& options,
                            const plan_details& details, std::size_t i, const vec<T, D>& point, fault_kind kind) {
  const std::string name = message("point ", i, " at ", vector_text(point));
  if (kind == fault_kind::not_finite) return name + " is not finite";
  for (int axis = 0; axis < D; ++axis) {
    const std::string text =
        kind == fault_kind::outside
            ? place_complaint(domain, options, point[axis], axis)
            : footprint_complaint(domain, shape, options, details.part.axis[axis], point[axis], axis);
    if (!text.empty()) return name + text;
  }
  return name + " was refused";
}

std::string late_point_complaint(std::size_t i, fault_kind kind, const mesh_stack& stack) {
  const std::string name = message("point ", i, " of set_points_async");
  if (kind == fault_kind::not_finite) return name + " is not finite";
  if (kind == fault_kind::key_range) return message(name, " is of a system that is not below ", stack.systems);
  if (kind == fault_kind::outside) return name + " is outside the box; set_points says along which axis";
  return name + " has a footprint that leaves the mesh along an open axis; set_points says along which";
}

#define QUADRAT_INSTANTIATE(T, D)                                                                                    \
  template mesh_shape make_shape(const box<T, D>&, const vec<int, D>&, const mesh_window<T>&, open_ends);            \
  template mesh_axis<T> make_mesh_axis(const box<T, D>&, int, int, int, const spread_options&, const part_of_axis&); \
  template vec<T, 3> gradient_scale(const box<T, D>&, const mesh_shape&, open_ends);                                 \
  template std::string point_complaint(const box<T, D>&, const mesh_shape&, const spread_options&,                   \
                                       const plan_details&, std::size_t, const vec<T, D>&, fault_kind);
QUADRAT_INSTANTIATE(float, 1)
QUADRAT_INSTANTIATE(float, 2)
QUADRAT_INSTANTIATE(float, 3)
QUADRAT_INSTANTIATE(double, 1)
QUADRAT_INSTANTIATE(double, 2)
QUADRAT_INSTANTIATE(double, 3)
#undef QUADRAT_INSTANTIATE

}  // namespace quadrat::detail
