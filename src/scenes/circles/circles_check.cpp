// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "core/suggestion.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/io/circles_scene.hpp"
#include "scenes/demands.hpp"

namespace quadrat::io {
namespace {

[[nodiscard]] double default_density(circles_form form) { return form == circles_form::original ? 0.01 : 1; }

class circles_checker : private scene_demands<circles_scene> {
 public:
  using scene_demands::scene_demands;

  void run() const {
    all_finite();
    name();
    box();
    physics();
    agents();
    search();
    running();
    output();
    const double top = scene_.camera.neighbors;
    demand(top >= 0, "camera.neighbors", "is ", top, ", but must not be negative");
  }

 private:
  void box() const {
    const auto& [dimension, width] = scene_.box;
    demand(dimension == 2 || dimension == 3, "box.dimension", "is ", dimension, ", but must be 2 or 3");
    demand(width > 0, "box.width", "is ", width, ", but must be positive");
    if (scene_.physics.form != circles_form::original) return;
    demand(width > 1, "box.width", "is ", width, ", but must be more than 1: agents of the original form live in [0, ",
           "width - 1]");
  }

  void physics() const {
    const auto& p = scene_.physics;
    const bool original = p.form == circles_form::original;
    demand(!p.radius || *p.radius > 0, "physics.radius", "is ", p.radius.value_or(0), ", but must be positive");
    demand(!original || !p.force, "physics.force",
           "belongs to the sine form; the original form has physics.repulsion and physics.attraction");
    demand(original || !p.repulsion, "physics.repulsion",
           "belongs to the original form; the sine form has physics.force");
    demand(original || !p.attraction, "physics.attraction",
           "belongs to the original form; the sine form has physics.force");
    const circles_parameters parameters = parameters_of(scene_);
    const double step = scene_.box.width * std::numeric_limits<float>::epsilon();
    demand(scene_.run.precision != number_precision::float32 || step <= parameters.radius / 64, "box.width", "is ",
           scene_.box.width, ", where float has steps of ", step, ": too coarse for a radius of ", parameters.radius,
           "; use precision = \"double\"");
  }

  void agents() const {
    const auto& [count, density, seed] = scene_.agents;
    demand(!count || !density, "agents.density", "is given, and agents.count as well: one follows from the other");
    demand(!count || *count >= 1, "agents.count", "is ", count.value_or(0), ", but must be at least 1");
    demand(!density || *density > 0, "agents.density", "is ", density.value_or(0), ", but must be positive");
    const double wanted = count ? static_cast<double>(*count)
                                : density.value_or(default_density(scene_.physics.form)) *
                                      std::pow(scene_.box.width, static_cast<double>(scene_.box.dimension));
    const char* const cause = count ? "agents.count" : (density ? "agents.density" : "box.width");
    demand(wanted <= static_cast<double>(max_count), cause, "makes ", wanted,
           " agents, but one simulation holds fewer than 2^31 (2147483648)");
    demand(std::floor(wanted * (1 + 1e-12)) >= 1, cause, "makes no agent at all");
    demand(seed >= 0, "agents.seed", "is ", seed, ", but must not be negative");
  }

  void search() const {
    const auto& [order, cell_list, cells] = scene_.search;
    one_of("search.order", order, circles_orders());
    one_of("search.cell_list", cell_list, circles_cell_lists());
    demand(cells >= 0 && cells <= circles_most_cells_per_reach, "search.cells_per_reach", "is ", cells,
           ", but must lie between 0 (the order's choice) and ", circles_most_cells_per_reach);
    const std::string_view chosen = order == "auto" ? circles_default_order : std::string_view(order);
    const std::string_view list = cell_list == "auto" ? circles_default_cell_list : std::string_view(cell_list);
    std::vector<std::string_view> possible;
    for (const std::string_view one : circles_cell_lists()) {
      if (circles_walkable(chosen, one)) possible.push_back(one);
    }
    demand(circles_walkable(chosen, list), "search.cell_list", "is \"", list, "\", but the order \"", chosen,
           "\" needs rows of cells that are one range; ", detail::valid_names(possible));
  }

  void one_of(const std::string& key, const std::string& value, std::span<const std::string_view> names) const {
    std::vector<std::string_view> valid{"auto"};
    valid.insert(valid.end(), names.begin(), names.end());
    demand(std::ranges::find(valid, value) != valid.end(), key, "cannot be \"", value, "\"; ",
           detail::suggestion(value, valid));
  }
};

}  // namespace

circles_parameters parameters_of(const circles_scene& scene) {
  circles_parameters p = circles_defaults(scene.physics.form);
  p.width = scene.box.width;
  p.radius = scene.physics.radius.value_or(p.radius);
  p.force = scene.physics.force.value_or(p.force);
  p.repulsion = scene.physics.repulsion.value_or(p.repulsion);
  p.attraction = scene.physics.attraction.value_or(p.attraction);
  return p;
}

void check(const circles_scene& scene, const scene_places& places) { circles_checker(scene, places).run(); }

void complete(circles_scene& scene, const scene_places& places) {
  const circles_parameters p = parameters_of(scene);
  auto& physics = scene.physics;
  physics.radius = p.radius;
  if (physics.form == circles_form::sine) {
    physics.force = p.force;
  } else {
    physics.repulsion = p.repulsion;
    physics.attraction = p.attraction;
  }
  const int dimension = static_cast<int>(scene.box.dimension);
  auto& [count, density, seed] = scene.agents;
  if (!count) count = static_cast<std::int64_t>(circles_count(p, dimension, density.value_or(default_density(p.form))));
  density = static_cast<double>(*count) / std::pow(scene.box.width, dimension);
  auto& [order, cell_list, cells] = scene.search;
  // Only if all three are "auto" may the model choose.
  if (order != "auto" || cell_list != "auto" || cells != 0) {
    if (order == "auto") order = circles_default_order;
    if (cell_list == "auto") cell_list = circles_default_cell_list;
    if (cells == 0) cells = circles_default_cells_per_reach(order);
  }
  complete_names(scene, places);
}

}  // namespace quadrat::io
