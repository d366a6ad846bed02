// SPDX-License-Identifier: BSD-3-Clause
#include "search/checks.hpp"

#include <array>
#include <cmath>

#include "core/method_choice.hpp"
#include "core/point_checks.hpp"
#include "quadrat/core/error.hpp"
#include "search/methods.hpp"
#include "search/rings.hpp"

namespace quadrat {

namespace detail {

template <typename T>
std::uint32_t type_count(const neighbor_options<T>& options) {
  return static_cast<std::uint32_t>(std::lround(std::sqrt(static_cast<double>(options.type_cutoffs.size()))));
}

namespace {

template <typename T>
void check_type_table(const neighbor_options<T>& options) {
  const std::size_t types = type_count(options);
  require(types > 0 && types * types == options.type_cutoffs.size(), "the table of types has ",
          options.type_cutoffs.size(), " cutoffs; it must have types x types of them");
  for (std::size_t a = 0; a < types; ++a) {
    for (std::size_t b = 0; b < types; ++b) {
      const T cutoff = options.type_cutoffs[a * types + b];
      require(cutoff >= T(0) && cutoff <= options.cutoff, "the cutoff of types ", a, " and ", b, " is ", cutoff,
              "; it must be from 0 to the cutoff of the list, ", options.cutoff);
      require(cutoff == options.type_cutoffs[b * types + a], "the cutoff of types ", a, " and ", b, " is ", cutoff,
              ", that of types ", b, " and ", a, " is ", options.type_cutoffs[b * types + a], "; they must agree");
    }
  }
}

template <typename T>
void check_inner_cutoffs(const neighbor_options<T>& options) {
  require(options.inner_cutoffs.size() <= most_inner_cutoffs, "there are ", options.inner_cutoffs.size(),
          " inner cutoffs; at most ", most_inner_cutoffs, " are possible");
  T above = T(0);
  for (const T inner : options.inner_cutoffs) {
    require(inner > above && inner < options.cutoff, "an inner cutoff is ", inner, "; they must increase, from above ",
            above, " to below the cutoff of the list, ", options.cutoff);
    above = inner;
  }
}

template <typename T, int D>
void check_queries_fit(const neighbor_options<T>& options, const neighbor_input<T, D>& input) {
  require_points(*input.queries, "queries");
  require(options.pairs == neighbor_pairs::full,
          "a half list was requested for queries; a query is not a point, so its "
          "list must be full");
  require(!has_radii(options.rule) || input.queries->count == 0 || input.radii_of_queries != nullptr,
          "the rule needs a radius of each query, but radii_of_queries is null");
  require(options.rule != cutoff_rule::table_of_types || input.queries->count == 0 || input.types_of_queries != nullptr,
          "the rule needs a type of each query, but types_of_queries is null");
  require(options.skin == T(0), "the skin is ", options.skin, "; with queries it must be 0");
  require(input.excluded_offsets == nullptr, "pairs of queries and points cannot be excluded");
  require(input.boxes.size() == 1 || input.queries->count == 0 || input.system_of_query != nullptr, "there are ",
          input.boxes.size(), " boxes, but no system of each query");
}

}  // namespace

template <typename T, int D>
void check_cutoff(const lattice<T, D>& reduced, T cutoff) {
  require(cutoff > T(0) && std::isfinite(cutoff), "the cutoff is ", cutoff, "; it must be positive and finite");
  require(cutoff * cutoff > T(0) && std::isfinite(cutoff * cutoff), "the cutoff is ", cutoff,
          "; its square must be positive and finite");
  for (int axis = 0; axis < D; ++axis) {
    const T height = reduced.height(axis);
    require(!reduced.periodic[axis] || cutoff <= height / 2, "the cutoff ", cutoff,
            " is more than half the periodic box along vector ", axis, " (height ", height, "); at most ", height / 2,
            " is possible");
  }
}

template <typename T>
void check_neighbor_options(const neighbor_options<T>& options, bool cuda) {
  require(options.cutoff > T(0) && std::isfinite(options.cutoff), "the cutoff is ", options.cutoff,
          "; it must be positive and finite");
  require(options.skin >= T(0) && std::isfinite(options.skin), "the skin is ", options.skin,
          "; it must be finite and not negative");
  const T reach = options.cutoff + options.skin;
  require(reach * reach > T(0) && std::isfinite(reach * reach), "the cutoff is ", options.cutoff,
          "; its square must be positive and finite");
  require(options.layout != neighbor_layout::matrix || options.width > 0,
          "a matrix of width 0 was requested; its rows need room for at least 1 neighbor");
  require(options.width <= max_count, "the width of the matrix is ", options.width, "; at most ", max_count,
          " is possible");
  if (options.rule == cutoff_rule::table_of_types) check_type_table(options);
  check_inner_cutoffs(options);
  require(options.rule != cutoff_rule::own_radius || options.pairs == neighbor_pairs::full,
          "a half list was requested with own_radius; the rule is not symmetric, so the list must be full");
  require_method<neighbor_method_list>({"neighbor method", cuda, determinism::none, true}, options.method);
}

template <typename T, int D>
void check_systems(const points_view<T, D>& points, std::span<const lattice<T, D>> boxes,
                   const std::uint32_t* system_of_point) {
  require_points(points, "points");
  require(!boxes.empty(), "there is no box; one is needed, or one for each system");
  require(boxes.size() <= (std::size_t{1} << 27), "there are ", boxes.size(), " boxes; at most ", std::size_t{1} << 27,
          " are possible");
  require(boxes.size() == 1 || points.count == 0 || system_of_point != nullptr, "there are ", boxes.size(),
          " boxes, but no system of each point");
}

template <typename T, int D>
void check_neighbor_input(const neighbor_options<T>& options, const neighbor_input<T, D>& input) {
  check_systems(input.points, input.boxes, input.system_of_point);
  if (input.queries.has_value()) check_queries_fit(options, input);
  const bool own_radii_of_queries = options.rule == cutoff_rule::own_radius && input.queries.has_value();
  require(!has_radii(options.rule) || own_radii_of_queries || input.points.count == 0 || input.radii != nullptr,
          "the rule needs a radius of each point, but radii is null");
  require(options.rule != cutoff_rule::table_of_types || input.points.count == 0 || input.types != nullptr,
          "the rule needs a type of each point, but types is null");
}

template std::uint32_t type_count(const neighbor_options<float>&);
template std::uint32_t type_count(const neighbor_options<double>&);
template void check_cutoff(const lattice<float, 2>&, float);
template void check_cutoff(const lattice<float, 3>&, float);
template void check_cutoff(const lattice<double, 2>&, double);
template void check_cutoff(const lattice<double, 3>&, double);
template void check_systems(const points_view<float, 2>&, std::span<const lattice<float, 2>>, const std::uint32_t*);
template void check_systems(const points_view<float, 3>&, std::span<const lattice<float, 3>>, const std::uint32_t*);
template void check_systems(const points_view<double, 2>&, std::span<const lattice<double, 2>>, const std::uint32_t*);
template void check_systems(const points_view<double, 3>&, std::span<const lattice<double, 3>>, const std::uint32_t*);
template void check_neighbor_options(const neighbor_options<float>&, bool);
template void check_neighbor_options(const neighbor_options<double>&, bool);
template void check_neighbor_input(const neighbor_options<float>&, const neighbor_input<float, 2>&);
template void check_neighbor_input(const neighbor_options<float>&, const neighbor_input<float, 3>&);
template void check_neighbor_input(const neighbor_options<double>&, const neighbor_input<double, 2>&);
template void check_neighbor_input(const neighbor_options<double>&, const neighbor_input<double, 3>&);

bool method_serves(std::string_view method, const neighbor_request& request) {
  bool serves = true;
  neighbor_method_list::with("neighbor method", method, [&](auto named) {
    if constexpr (requires { decltype(named)::serves(request); }) serves = decltype(named)::serves(request);
  });
  return serves;
}

namespace {

[[nodiscard]] constexpr auto described_methods() {
  std::array<neighbor_method, neighbor_method_list::size> methods{};
  std::size_t next = 0;
  neighbor_method_list::for_each([&](auto method) { methods[next++] = {built_info_of<decltype(method)>()}; });
  return methods;
}

constexpr auto methods = described_methods();

}  // namespace

}  // namespace detail

std::span<const neighbor_method> neighbor_methods() { return detail::methods; }

template <typename T, int D>
bool neighbor_method_serves(std::string_view method, const neighbor_options<T>& options,
                            const neighbor_input<T, D>& input) {
  return detail::method_serves(
      method, detail::make_request(false, options, input, detail::cubes_of_boxes(options, input.boxes)));
}

template bool neighbor_method_serves(std::string_view, const neighbor_options<float>&, const neighbor_input<float, 2>&);
template bool neighbor_method_serves(std::string_view, const neighbor_options<float>&, const neighbor_input<float, 3>&);
template bool neighbor_method_serves(std::string_view, const neighbor_options<double>&,
                                     const neighbor_input<double, 2>&);
template bool neighbor_method_serves(std::string_view, const neighbor_options<double>&,
                                     const neighbor_input<double, 3>&);

}  // namespace quadrat
