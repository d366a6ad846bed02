// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cmath>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "choice/cases.hpp"
#include "choice/loads.hpp"
#include "choice/operations.hpp"
#include "choice/places.hpp"
#include "core/method_choice.hpp"
#include "quadrat/search/neighbor_list.hpp"

namespace quadrat::bench {

namespace {

struct neighbor_case {
  std::string distribution;
  bool sorted, wide, periodic, half;
  std::size_t n;
  int dimension;
  double neighbors;  ///< expected for uniform points
  bool outside;      ///< the box is open along its last axis, and half of the points may be outside
  double most_pairs;
};

[[nodiscard]] neighbor_case draw_neighbor_case(const session& s, const case_grid& grid, std::size_t number) {
  case_draw draw(grid.seed, number);
  neighbor_case what;
  what.distribution = draw.places_of(grid.name);
  what.sorted = draw.chance(0.4);
  what.wide = draw.chance(0.35);
  what.periodic = draw.chance(0.5);
  what.half = draw.chance(0.25);
  what.dimension = draw.chance(0.7) ? 3 : 2;
  what.neighbors = draw.between(4, 120);
  const double most = !s.full() ? 3000 : (s.on_cuda() ? 3e6 : 1e5);
  what.n = static_cast<std::size_t>(draw.between(s.full() ? 10 : 30, most));
  what.outside = draw.chance(0.08);
  what.most_pairs = !s.on_cuda() ? 1.5e6 : draw.chance(0.08) ? 1.6e9 : 1e8;
  return what;
}

[[nodiscard]] bool worth_timing_list(std::string_view name, std::size_t n) {
  return name != "brute_force" || n <= 3000;
}

template <typename T, int D, typename Context>
void time_neighbor_case(const Context& context, const session& s, const neighbor_case& what, const numbered_case& one) {
  row identity =
      identify("neighbors", "auto", std::is_same_v<T, float> ? "float" : "double", what.n, 0, what.distribution);
  identity.erase("cells");
  identity["storage"] = what.sorted ? "sorted" : "shuffled";
  identity["dim"] = D;
  identity["half"] = what.half;
  if (what.outside) identity["outside"] = true;
  attempt_case(s, identity, one, [&](row& out) {
    const auto drawn = cast_all<T>(make_places(what.distribution, what.n, D, random_word(7, what.n), what.sorted));
    rivals times(s);
    const auto places = to_device(context, drawn);
    auto domain = make_box(vec<T, D>::filled(0), vec<T, D>::filled(1), vec<bool, D>::filled(what.periodic));
    if (what.outside) domain.length[D - 1] = T(0.5), domain.periodic[D - 1] = false;
    neighbor_input<T, D> input;
    input.points = strided_points<D>(places.data(), what.n);
    const std::array<lattice<T, D>, 1> boxes{make_lattice(domain)};
    input.boxes = boxes;
    const auto n = static_cast<double>(what.n);
    // Dense distributions get a shorter cutoff, so that there are not too many pairs.
    const double ball = D == 3 ? 4.0 / 3 * std::numbers::pi : std::numbers::pi;
    double reach = std::min(0.3, std::pow(what.neighbors / n / ball, 1.0 / D));
    workspace<Context> scratch;
    detail::point_sample sample;
    const auto take = [&] {
      detail::sampled_cells cells = detail::cells_for_sample(domain, reach);
      cells.endless = what.outside;
      sample = detail::sample_points(context, input.points, cells, scratch);
    };
    for (take(); sample.occupancy * ball * n > what.most_pairs; take()) reach *= 0.7;
    out["sample_ms"] = call_ms(context, take);
    neighbor_options<T> options;
    options.cutoff = static_cast<T>(reach);
    options.accept_outside = what.outside;
    options.pairs = what.half ? neighbor_pairs::half : neighbor_pairs::full;
    while (times.another_round(s)) {
      for (const neighbor_method& method : neighbor_methods()) {
        const detail::method_demand demand{"", s.on_cuda()};
        if (!demand.met_by(method) || !worth_timing_list(method.name, what.n)) continue;
        times.add(std::string(method.name), 1, [&] {
          options.method = method.name;
          neighbor_list<Context, T, D> list(context, options);
          list.build(input);
          out["pairs"] = list.size();
          return times.of(context, rivals::nothing{}, [&] { list.build(input); });
        });
      }
    }
    times.write(out);
    options.method.clear();
    detail::neighbor_request request =
        detail::make_request(s.on_cuda(), options, input, detail::cubes_of_boxes(options, input.boxes));
    if constexpr (std::is_same_v<Context, cpu_context>) request.threads = context.threads();
    request.sample = sample;
    out["load"] = to_row(request);
  });
}

template <typename Context>
void time_neighbor_cases(const session& s, const Context& context) {
  for_each_case(s, [&](const case_grid& grid, std::size_t k) {
    const neighbor_case what = draw_neighbor_case(s, grid, k);
    if (what.dimension == 2) {
      what.wide ? time_neighbor_case<double, 2>(context, s, what, {grid.name, k})
                : time_neighbor_case<float, 2>(context, s, what, {grid.name, k});
    } else {
      what.wide ? time_neighbor_case<double, 3>(context, s, what, {grid.name, k})
                : time_neighbor_case<float, 3>(context, s, what, {grid.name, k});
    }
  });
}

}  // namespace

void run_choice_neighbors(const session& s) {
  with_context(s, [&](const auto& context) { time_neighbor_cases(s, context); });
}

}  // namespace quadrat::bench
