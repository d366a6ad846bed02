// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include "choice/cases.hpp"
#include "choice/operations.hpp"
#include "choice/places.hpp"
#include "models/circles/variants.hpp"
#include "models/granular/variants.hpp"
#include "models/occupancy.hpp"
#include "quadrat/models/circles.hpp"
#include "quadrat/models/granular.hpp"
#include "tune/choice.hpp"

namespace quadrat::bench {

namespace {

/// Times some steps of a model, after as many that are not timed. On CUDA 20, so that launches overlap.
template <typename Context, typename Model>
[[nodiscard]] method_times time_steps(const Context& context, const rivals& times, Model& model, std::size_t steps) {
  if (std::is_same_v<Context, cuda_context>) steps = 20;
  model.advance(steps);
  return times.of(
      context, rivals::nothing{}, [&] { model.advance(steps); }, static_cast<double>(steps));
}

template <int D>
[[nodiscard]] std::vector<vec<double, D>> spread_out(const std::vector<double>& places, const vec<double, D>& lower,
                                                     const vec<double, D>& length) {
  std::vector<vec<double, D>> points(places.size() / D);
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (int axis = 0; axis < D; ++axis) {
      points[i][axis] = lower[axis] + length[axis] * places[D * i + static_cast<std::size_t>(axis)];
    }
  }
  return points;
}

/// Agents that do not move, in one of the distributions.
template <int D, typename Context>
void time_circles_case(const Context& context, const session& s, const case_grid& grid, std::size_t number) {
  case_draw draw(grid.seed, number);
  const std::string distribution = draw.places_of(grid.name);
  const auto n =
      static_cast<std::size_t>(draw.between(s.full() ? 500 : 100, !s.full() ? 500 : (s.on_cuda() ? 1e6 : 2e4)));
  const double neighbors = draw.between(1, 200);
  row identity = identify("circles", "auto", "float", n, 0, distribution);
  identity.erase("cells");
  identity["dim"] = D;
  attempt_case(s, identity, {grid.name, number}, [&](row& out) {
    circles_parameters p;
    p.force = 0;
    p.width = std::pow(static_cast<double>(n) / neighbors, 1.0 / D) * p.radius;
    p.width = std::max(p.width, 3 * p.radius);
    const auto domain = circles_box<D>(p);
    const auto positions =
        spread_out<D>(make_places(distribution, n, D, draw.seed(), false), domain.lower, domain.length);
    const auto [occupancy, growth] = detail::growing_occupancy_of(detail::taken_of(positions), n, domain, p.reach());
    const detail::circles_load load{
        static_cast<double>(n), D, occupancy, growth, detail::choice_place_of(context).threads, s.on_cuda()};
    // The densest cases are covered by real runs only.
    if (load.occupancy * static_cast<double>(n) > (s.on_cuda() ? 4e8 : 4e6)) return;
    rivals times(s);
    while (times.another_round(s)) {
      for (const detail::circles_variant& one : detail::circles_variants(s.on_cuda())) {
        times.add(std::string(one.name), 1, [&] {
          circles<Context, float, D> model(context, {p}, positions);
          circles_state<float, D> state = model.state();
          state.variant = one.name;
          model.restore(state);
          return time_steps(context, times, model, 2);
        });
      }
    }
    times.write(out);
    out["load"] = {{"agents", load.agents}, {"dimension", D},          {"occupancy", load.occupancy},
                   {"growth", load.growth}, {"threads", load.threads}, {"cuda", load.cuda}};
  });
}

/// Grains of a gas or a heap, at a density that these can have.
template <typename Context>
void time_granular_case(const Context& context, const session& s, const case_grid& grid, std::size_t number) {
  case_draw draw(grid.seed + 1, number);
  const std::string distribution = draw.places_of(grid.name);
  const auto n =
      static_cast<std::size_t>(draw.between(s.full() ? 1000 : 200, !s.full() ? 500 : (s.on_cuda() ? 2e6 : 2e4)));
  const double filled = draw.between(0.02, 0.7);
  // Either they fall together by so many diameters per step, or they are at rest.
  const double fall = draw.chance(0.5) ? draw.between(0.003, 0.2) : 0;
  row identity = identify("granular", "auto", "float", n, 0, distribution);
  identity.erase("cells");
  attempt_case(s, identity, {grid.name, number}, [&](row& out) {
    granular_options options;
    granular_parameters& p = options.parameters;
    p.gravity = {0, 0, 0};
    p.radius = std::min(0.25, std::cbrt(8 * filled / static_cast<double>(n) / 4.19));
    p.time_step = 1e-6;  // forces change nothing
    const vec<double, 3> lower = vec<double, 3>::filled(-1 + p.radius),
                         length = vec<double, 3>::filled(2 - 2 * p.radius);
    const auto positions = spread_out<3>(make_places(distribution, n, 3, draw.seed(), false), lower, length);
    const auto domain = make_box<double, 3>({-1, -1, -1}, {1, 1, 1}, {});
    detail::granular_load load{static_cast<double>(n), 0, 0, detail::choice_place_of(context).threads, s.on_cuda()};
    const double edge = detail::occupancy_edge(s.on_cuda());
    load.occupancy =
        detail::occupancy_of(detail::taken_of(positions), n, domain, 2 * p.radius * edge) / std::pow(edge, 3);
    load.remade = detail::share_remade(fall);
    const std::vector<vec<double, 3>> velocities(n, vec<double, 3>{0, 0, -fall * 2 * p.radius / p.time_step});
    if (load.occupancy > 40) return;  // grains are never that dense
    rivals times(s);
    const granular<Context, float> finest(context, options, positions);
    load.cells = detail::cells_in_all(*finest.options().cells);
    while (times.another_round(s)) {
      for (const detail::granular_variant& one : detail::granular_variants(s.on_cuda())) {
        times.add(std::string(one.name), 1, [&] {
          granular_options chosen = options;
          chosen.method = one.method;
          chosen.cells = detail::cells_of(one, *finest.options().cells);
          granular<Context, float> model(context, chosen, positions, velocities);
          // As many steps as rows are kept for.
          return time_steps(context, times, model, 10);
        });
      }
    }
    times.write(out);
    out["load"] = {{"grains", load.grains},   {"remade", load.remade}, {"occupancy", load.occupancy},
                   {"threads", load.threads}, {"cuda", load.cuda},     {"cells", load.cells}};
  });
}

}  // namespace

void run_choice_models(const session& s) {
  with_context(s, [&](const auto& context) {
    for_each_case(s, [&](const case_grid& grid, std::size_t k) {
      k % 2 == 0 ? time_circles_case<2>(context, s, grid, k) : time_circles_case<3>(context, s, grid, k);
      time_granular_case(context, s, grid, k);
    });
  });
}

}  // namespace quadrat::bench
