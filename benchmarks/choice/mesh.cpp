// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "choice/cases.hpp"
#include "choice/loads.hpp"
#include "choice/operations.hpp"
#include "choice/places.hpp"
#include "core/method_choice.hpp"
#include "mesh/methods.hpp"
#include "quadrat/mesh/methods.hpp"
#include "quadrat/mesh/spread_plan.hpp"

namespace quadrat::bench {

namespace {

struct mesh_case {
  std::string distribution;
  bool sorted;
  std::size_t n;
  int dimension, extent, order;
  bool wide;  ///< double precision
  determinism level;
};

[[nodiscard]] mesh_case draw_mesh_case(const session& s, const case_grid& grid, std::size_t number) {
  const bool fit = grid.name == "fit";
  case_draw draw(grid.seed, number);
  mesh_case what;
  what.distribution = draw.places_of(grid.name);
  what.sorted = draw.chance(0.4);
  what.dimension = draw.chance(0.75) ? 3 : 2;
  what.wide = draw.chance(0.35);
  what.level = draw.chance(0.2) ? determinism::run_to_run : determinism::none;
  what.order = fit ? draw.one_of(std::array{2, 4, 6, 8}) : draw.one_of(std::array{2, 3, 4, 5, 6, 6, 7, 8});
  if (!s.full()) {
    what.extent = draw.one_of(std::array{16, 24});
    what.n = static_cast<std::size_t>(draw.between(500, 5000));
    return what;
  }
  const bool cuda = s.on_cuda();
  what.extent = fit ? draw.one_of(std::array{32, 36, 48, 60, 64, 72, 96, 128, 192, 256})
                    : draw.one_of(std::array{32, 40, 56, 80, 112, 128, 160, 224});
  // A case that is known to be hard: few points on a large mesh.
  const bool large = cuda && what.dimension == 3 && draw.chance(0.08);
  if (large) what.extent = fit ? 448 : 512;
  if (what.dimension == 2) what.extent *= cuda ? 16 : 4;
  if (!cuda && what.dimension == 3) what.extent = std::min(what.extent, 96);
  what.n = static_cast<std::size_t>(cuda ? draw.between(1000, large ? 5e5 : 4e6) : draw.between(30, 3e5));
  constexpr double most_contributions = 2e7;  // on a CPU: some hundredths of a second
  const double fitting = most_contributions / std::pow(what.order, what.dimension);
  if (!cuda) what.n = std::min(what.n, static_cast<std::size_t>(fitting));
  return what;
}

/// Methods worth timing: the others take minutes where these take milliseconds.
[[nodiscard]] bool worth_timing(const session& s, std::string_view name, const mesh_case& what) {
  const double contributions = static_cast<double>(what.n) * std::pow(what.order, what.dimension);
  if (name == "gather" || name == "cusparse") return false;
  const bool sparse = name == "single_mesh" || name == "group_mesh" || name == "hybrid_mesh";
  return !sparse || (s.on_cuda() ? contributions < 3e8 : contributions < 2e7 && name == "single_mesh");
}

template <typename T, int D, typename Context>
void time_mesh_case(const Context& given, const session& s, const mesh_case& what, const numbered_case& one) {
  row identity = identify("mesh", "auto", std::is_same_v<T, float> ? "float" : "double", what.n, 0, what.distribution);
  identity.erase("cells");
  identity["storage"] = what.sorted ? "sorted" : "shuffled";
  identity["dim"] = D;
  identity["mesh"] = what.extent;
  identity["order"] = what.order;
  identity["level"] = static_cast<int>(what.level);
  attempt_case(s, identity, one, [&](row& out) {
    const Context context = what.level == determinism::none ? given : make_context<Context>(s, what.level);
    const auto drawn = cast_all<T>(make_places(what.distribution, what.n, D, random_word(7, what.n), what.sorted));
    rivals times(s);
    const auto places = to_device(context, drawn);
    const points_view<T, D> points = strided_points<D>(places.data(), what.n);
    const auto values = to_device(context, std::vector<T>(what.n, T(1)));
    const auto domain = make_box(vec<T, D>::filled(0), vec<T, D>::filled(1), vec<bool, D>::filled(true));
    const auto mesh = vec<int, D>::filled(what.extent);
    spread_options options;
    options.asynchronous = false;
    std::vector<std::string> names;
    for (const spread_method& method : spread_methods()) {
      const detail::method_demand demand{"", s.on_cuda(), what.level};
      if (!method.wrong_results && demand.met_by(method) && worth_timing(s, method.name, what)) {
        names.emplace_back(method.name);
      }
    }
    array<T, Context> result(context, static_cast<std::size_t>(std::lround(std::pow(what.extent, D))));
    constexpr double middle_uses = 10;
    while (times.another_round(s)) {
      for (const std::string& name : names) {
        times.add(name, middle_uses, [&] {
          options.method = name;
          spread_plan<Context, T, D> plan(context, domain, mesh, what.order, options);
          const auto prepare = [&] { plan.set_points(points); };
          const auto use = [&] { plan.spread_async(values.data(), result.data()); };
          prepare();
          use();
          return times.of(context, prepare, use);
        });
      }
    }
    times.write(out);
    workspace<Context> scratch;
    detail::spread_request request{};
    request.width = what.order;
    const auto take = [&] { detail::sample_for(request, context, points, domain, mesh, scratch); };
    take();
    out["sample_ms"] = call_ms(context, take);
    request.cuda = s.on_cuda();
    request.level = what.level;
    request.points = static_cast<double>(what.n);
    request.nodes = std::pow(what.extent, D);
    request.bytes = request.nodes * sizeof(T);
    request.footprint = std::pow(what.order, D);
    request.work = request.points * request.footprint / 216;
    request.uses = 1;
    if constexpr (std::is_same_v<Context, cpu_context>) request.threads = context.threads();
    request.dimension = D;
    request.row = what.order;
    out["load"] = to_row(request);
  });
}

template <typename Context>
void time_mesh_cases(const session& s, const Context& context) {
  for_each_case(s, [&](const case_grid& grid, std::size_t k) {
    const mesh_case what = draw_mesh_case(s, grid, k);
    if (what.dimension == 2) {
      what.wide ? time_mesh_case<double, 2>(context, s, what, {grid.name, k})
                : time_mesh_case<float, 2>(context, s, what, {grid.name, k});
    } else {
      what.wide ? time_mesh_case<double, 3>(context, s, what, {grid.name, k})
                : time_mesh_case<float, 3>(context, s, what, {grid.name, k});
    }
  });
}

}  // namespace

void run_choice_mesh(const session& s) {
  with_context(s, [&](const auto& context) { time_mesh_cases(s, context); });
}

}  // namespace quadrat::bench
