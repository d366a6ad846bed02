// SPDX-License-Identifier: BSD-3-Clause
#include <functional>

#include "mesh/operations.hpp"
#include "mesh/paper.hpp"
#include "mesh/sparse/single_mesh.hpp"

namespace quadrat::bench {

paper_sizes paper_sizes_for(const session& s) {
  if (!s.full()) return {{1000, 3000}, {1000, 3000}, {32}};
  paper_sizes sizes{{}, {}, {32, 64, 128, 256}};
  const std::size_t most = s.on_cuda() ? 10'000'000 : 100'000;
  for (std::size_t decade = 1000; decade <= most; decade *= 10) {
    sizes.decades.push_back(decade);
    sizes.counts.push_back(decade);
    if (3 * decade < most) sizes.counts.push_back(3 * decade);
  }
  if (!s.on_cuda()) sizes.meshes.pop_back();
  return sizes;
}

std::vector<std::string_view> paper_methods(const session& s) {
  std::vector<std::string_view> names;
  for (const spread_method& method : spread_methods()) {
    if (method.wrong_results || !(s.on_cuda() ? method.on_cuda : method.on_cpu)) continue;
    if (s.wants_method(method.name)) names.push_back(method.name);
  }
  return names;
}

int figure_mesh(const session& s, int mesh) { return s.full() ? mesh : paper_sizes_for(s).meshes.front(); }

namespace {

/// Whether the method exists on this device and was requested.
bool has_paper_method(const session& s, std::string_view name) {
  for (const spread_method& method : spread_methods()) {
    if (method.name == name) return (s.on_cuda() ? method.on_cuda : method.on_cpu) && s.wants_method(name);
  }
  return false;
}

/// One row of a figure. `extend` adds the parameter of the figure to the identity.
template <typename Context>
void time_figure(const session& s, const Context& context, int figure, const paper_case& what,
                 const std::function<void(row&)>& extend = {}) {
  if (!has_paper_method(s, what.method)) return;
  row identity =
      identify_mesh(message("figure", figure), what.method, "float", what.n, what.mesh, paper_order, "uniform");
  identity["value"] = "real";
  identity["figure"] = figure;
  identity["asm"] = contributions_per_mesh_point(what.n, what.mesh);
  if (extend) extend(identity);
  s.attempt(identity, [&](row& out) {
    const paper_times& times = measure_paper_case(s, context, what);
    if (figure == 4) out["set_points_ms"] = times.set_points.median_ms;
    add_timing(out, figure == 9 ? times.set_points : times.spread, "points_per_s", static_cast<double>(what.n));
    out["bytes"] = times.bytes;
  });
}

template <typename Context>
void time_compute_units(const session& s, const Context& context) {
  const paper_sizes sizes = paper_sizes_for(s);
  for (const int mesh : sizes.meshes) {
    for (const std::size_t n : sizes.counts) {
      for (const int unit : {1, 2, 4, 8, 16, 32}) {
        paper_case what{"single_mesh", n, mesh};
        what.details.compute_unit = unit;
        what.building = false;
        time_figure(s, context, 3, what, [&](row& identity) {
          identity["compute_unit"] = unit;
          identity["rule"] = detail::paper_compute_unit(contributions_per_mesh_point(n, mesh));
        });
      }
    }
  }
}

template <typename Context>
void time_group_sizes(const session& s, const Context& context) {
  for (const std::size_t n : paper_sizes_for(s).counts) {
    for (const int size : {8, 16, 32, 64, 128, 256, 512, 1024}) {
      paper_case what{"group_mesh", n, figure_mesh(s, 128)};
      what.details.group_size = size;
      time_figure(s, context, 4, what, [&](row& identity) { identity["group_size"] = size; });
    }
  }
}

template <typename Context>
void time_reductions(const session& s, const Context& context) {
  for (const std::size_t n : paper_sizes_for(s).counts) {
    paper_case what{"single_mesh", n, figure_mesh(s, 128)};
    time_figure(s, context, 5, what, [](row& identity) { identity["reduction"] = "shuffle"; });
    what.details.reduction = detail::unit_reduction::shared_memory;
    what.building = false;
    time_figure(s, context, 5, what, [](row& identity) { identity["reduction"] = "shared_memory"; });
  }
}

template <typename Context>
void time_methods_side_by_side(const session& s, const Context& context, int figure,
                               const std::vector<std::string_view>& methods, int mesh) {
  for (const std::size_t n : paper_sizes_for(s).counts) {
    for (const std::string_view method : methods) {
      time_figure(s, context, figure, {method, n, figure_mesh(s, mesh)});
    }
  }
}

}  // namespace

void run_figure_3(const session& s) {
  with_context(s, [&](const auto& context) { time_compute_units(s, context); });
}
void run_figure_4(const session& s) {
  with_context(s, [&](const auto& context) { time_group_sizes(s, context); });
}
void run_figure_5(const session& s) {
  with_context(s, [&](const auto& context) { time_reductions(s, context); });
}
void run_figure_6(const session& s) {
  with_context(s, [&](const auto& context) {
    time_methods_side_by_side(s, context, 6, {"particle", "particle_racing"}, 64);
  });
}
void run_figure_7(const session& s) {
  with_context(s, [&](const auto& context) { time_methods_side_by_side(s, context, 7, {"particle", "gather"}, 64); });
}
void run_figure_8(const session& s) {
  with_context(s, [&](const auto& context) { time_methods_side_by_side(s, context, 8, paper_methods(s), 128); });
}
void run_figure_9(const session& s) {
  with_context(s, [&](const auto& context) { time_methods_side_by_side(s, context, 9, paper_methods(s), 128); });
}

}  // namespace quadrat::bench
