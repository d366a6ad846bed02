// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "choice/cases.hpp"
#include "choice/loads.hpp"
#include "choice/operations.hpp"
#include "choice/places.hpp"
#include "contacts/choice.hpp"
#include "contacts/scenes.hpp"
#include "core/method_choice.hpp"
#include "quadrat/contacts/contact_detector.hpp"

namespace quadrat::bench {

namespace {

struct contact_case {
  std::string distribution;
  bool sorted, wide, known_domain, ellipsoids;
  std::size_t n;
  double ratio, contacts;
};

[[nodiscard]] contact_case draw_contact_case(const session& s, const case_grid& grid, std::size_t number) {
  const bool fit = grid.name == "fit";
  case_draw draw(grid.seed, number);
  contact_case what;
  what.distribution = draw.places_of(grid.name);
  what.sorted = draw.chance(0.4);
  what.wide = draw.chance(0.35);
  what.known_domain = draw.chance(0.7);
  what.ellipsoids = draw.chance(0.15);
  what.ratio = fit ? draw.one_of(std::array{1.0, 1.0, 2.0, 10.0}) : draw.one_of(std::array{1.0, 1.0, 3.0, 8.0, 20.0});
  what.contacts = draw.between(0.5, 10);
  const double most = !s.full() ? 2000 : (s.on_cuda() ? (what.ellipsoids ? 1e5 : 1e6) : (what.ellipsoids ? 1e4 : 1e5));
  what.n = static_cast<std::size_t>(draw.between(10, most));
  return what;
}

[[nodiscard]] contact_scene scene_of(const contact_case& what, double shrink) {
  contact_scene scene;
  scene.distribution = what.distribution;
  scene.shape = what.ellipsoids ? body_shape::ellipsoid : body_shape::sphere;
  std::vector<double> radii(what.n);
  for (std::size_t i = 0; i < what.n; ++i) radii[i] = std::pow(what.ratio, random_unit(22, i));
  scene.side = side_for(radii, what.contacts);
  const auto places = make_places(what.distribution, what.n, 3, random_word(7, what.n), what.sorted);
  scene.centers.resize(what.n);
  scene.sizes.resize(what.n);
  for (std::size_t i = 0; i < what.n; ++i) {
    for (int axis = 0; axis < 3; ++axis) {
      scene.centers[i][axis] = scene.side * places[3 * i + static_cast<std::size_t>(axis)];
      const double flat = what.ellipsoids && axis > 0 ? 0.5 : 1.0;
      scene.sizes[i][axis] = shrink * radii[i] * flat;
    }
    scene.mean_diameter += 2 * shrink * radii[i] / static_cast<double>(what.n);
  }
  if (what.ellipsoids) scene.orientations.assign(what.n, quaternion<double>{1, 0, 0, 0});
  return scene;
}

/// Whether the method can be chosen, now or once contacts have been counted.
[[nodiscard]] bool can_be_chosen(std::string_view method, detail::pair_request request) {
  request.found = 0;
  return std::ranges::any_of(detail::contact_costs(request), [&](const detail::named_cost& one) {
    return one.method == method && one.cost.why_last().empty();
  });
}

template <typename T, typename Context>
void time_contact_case(const Context& context, const session& s, const contact_case& what, const numbered_case& one) {
  row identity =
      identify("contacts", "auto", std::is_same_v<T, float> ? "float" : "double", what.n, 0, what.distribution);
  identity.erase("cells");
  identity["storage"] = what.sorted ? "sorted" : "shuffled";
  identity["ratio"] = what.ratio;
  identity["shape"] = what.ellipsoids ? "ellipsoids" : "spheres";
  attempt_case(s, identity, one, [&](row& out) {
    workspace<Context> scratch;
    detail::point_sample sample;
    const double most_pairs = s.on_cuda() ? 2e7 : 4e5;
    double shrink = 1;
    contact_scene scene = scene_of(what, shrink);
    rivals times(s);
    auto placed = std::make_unique<placed_scene<Context, T>>(context, scene);
    const auto take = [&] {
      sample = detail::sample_points(context, placed->bodies().centers,
                                     detail::cells_for_sample(placed->domain(), scene.mean_diameter), scratch);
    };
    for (take(); sample.occupancy * 4 * static_cast<double>(what.n) > most_pairs; take()) {
      shrink *= 0.7;
      for (auto& size : scene.sizes) size = size * 0.7;
      scene.mean_diameter *= 0.7;
    }
    placed = std::make_unique<placed_scene<Context, T>>(context, scene);
    contact_options<T> options;
    if (what.known_domain) options.domain = placed->domain();
    detail::pair_request request{what.n};
    request.cuda = s.on_cuda();
    if constexpr (std::is_same_v<Context, cpu_context>) request.threads = context.threads();
    request.number_bytes = sizeof(T);
    request.spheres = !what.ellipsoids;
    request.known_domain = what.known_domain;
    while (times.another_round(s)) {
      for (const contact_method& method : contact_methods()) {
        const detail::method_demand demand{"", s.on_cuda()};
        if (!demand.met_by(method)) continue;
        // Methods that are never chosen automatically may take minutes for many bodies that are crowded or of several
        // sizes.
        const bool many = what.n > 30000 || sample.occupancy * static_cast<double>(what.n) > 1e5;
        if (((method.quadratic && what.n > 3000) || many) && !can_be_chosen(method.name, request)) continue;
        times.add(std::string(method.name), 1, [&] {
          options.method = method.name;
          contact_detector<Context, T> detector(context, options);
          detector.build(placed->bodies());
          out["contacts"] = detector.size();
          return times.of(context, rivals::nothing{}, [&] { detector.build(placed->bodies()); });
        });
      }
    }
    times.write(out);
    out["load"] = to_row(request);
  });
}

template <typename Context>
void time_contact_cases(const session& s, const Context& context) {
  for_each_case(s, [&](const case_grid& grid, std::size_t k) {
    const contact_case what = draw_contact_case(s, grid, k);
    what.wide ? time_contact_case<double>(context, s, what, {grid.name, k})
              : time_contact_case<float>(context, s, what, {grid.name, k});
  });
}

}  // namespace

void run_choice_contacts(const session& s) {
  with_context(s, [&](const auto& context) { time_contact_cases(s, context); });
}

}  // namespace quadrat::bench
