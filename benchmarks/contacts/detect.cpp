// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <type_traits>

#include "contacts/operations.hpp"
#include "contacts/scenes.hpp"
#include "quadrat/contacts/methods.hpp"

namespace quadrat::bench {

namespace {

[[nodiscard]] std::size_t usual_size(const session& s) {
  if (!s.full()) return 1000;
  return std::size_t{1} << (s.on_cuda() ? 20 : 16);
}

template <typename T, typename Context>
double detect(const session& s, const Context& context, const contact_scene& scene, bool sorted = false) {
  const placed_scene<Context, T> placed(context, scene);
  detection how{"detect", {}};
  how.sorted = sorted;
  std::uint64_t contacts = 0;
  return time_detection(s, placed, how, contacts);
}

template <typename Context>
void run_detect_on(const session& s, const Context& context) {
  const std::size_t n = usual_size(s);
  const contact_scene equal = sphere_scene(n, 1);
  const double first = detect<float>(s, context, equal);
  for (const double ratio : {10.0, 100.0, 1000.0}) detect<float>(s, context, sphere_scene(n, ratio));
  const contact_scene ellipsoids = ellipsoid_scene(n);
  detect<float>(s, context, ellipsoids);
  detect<double>(s, context, equal);
  detect<double>(s, context, ellipsoids);
  detect<float>(s, context, equal, true);
  const auto reproducible = make_context<Context>(s, determinism::run_to_run);
  detect<float>(s, reproducible, equal);
  detect<float>(s, reproducible, ellipsoids);
  if (s.full() && s.on_cuda()) {
    for (const std::size_t size : powers_of_two(14, 24, 2)) {
      if (size != n) detect<float>(s, context, sphere_scene(size, 1));
    }
  }
  row identity = identify("detect", "auto", "float", n, 0, equal.distribution);
  identity.erase("cells");
  s.out().add_noise(identity, first, detect<float>(s, context, equal));
}

template <typename Context>
void run_methods_on(const session& s, const Context& context) {
  const std::size_t n = usual_size(s);
  constexpr std::size_t most_of_quadratic = 1 << 16;
  const auto time = [&](const contact_scene& scene) {
    const placed_scene<Context, float> placed(context, scene);
    std::uint64_t contacts = 0;
    for (const contact_method& method : contact_methods()) {
      if (!s.wants_method(method.name) || (method.quadratic && scene.centers.size() > most_of_quadratic)) continue;
      time_detection(s, placed, {"methods", method.name}, contacts);
    }
  };
  for (const double ratio : {1.0, 10.0, 100.0}) time(sphere_scene(n, ratio));
  time(ellipsoid_scene(n));
  if (n > most_of_quadratic) time(sphere_scene(most_of_quadratic, 1));
}

/// The bin sizes to measure; larger ones would take seconds.
[[nodiscard]] std::vector<double> bin_sizes(const session& s) {
  if (!s.full()) return {1, 2};
  return {0.5, 0.7, 0.84, 1, 1.2, 1.4, 2, 2.8, 4};
}

/// The nine stages, with bodies in random and in spatial order, with and without the sort for load balance.
template <typename Context>
void time_nine_stages(const session& s, const placed_scene<Context, float>& placed, std::string_view memory,
                      std::uint64_t& contacts) {
  for (const double size : bin_sizes(s)) {
    for (const bool balanced : {true, false}) {
      const double edge = size * placed.scene().mean_diameter;
      time_detection(s, placed, {"bins", "bins", edge, balanced, false, memory}, contacts);
    }
  }
  time_detection(s, placed, {"bins", "bins", 0, true, false, memory}, contacts);
  time_detection(s, placed, {"bins", "levels", 0, true, false, memory}, contacts);
}

/// The grids of uniform-grid-atomics as a function of bin size.
template <typename Context>
void time_grids(const session& s, const placed_scene<Context, float>& placed, std::uint64_t& contacts) {
  for (const std::string_view method : {"tight_grid", "loose_grid"}) {
    for (const double size : bin_sizes(s)) {
      const double edge = size * placed.scene().mean_diameter;
      time_detection(s, placed, {"bins", method, edge, true, false, "random"}, contacts);
    }
    time_detection(s, placed, {"bins", method, 0, true, false, "random"}, contacts);
  }
}

template <typename Context>
void run_bins_on(const session& s, const Context& context) {
  const std::size_t n = usual_size(s);
  for (const double ratio : {1.0, 10.0}) {
    const contact_scene scattered = sphere_scene(n, ratio);
    const contact_scene sorted = in_order_of_space(scattered);
    std::uint64_t contacts = 0;
    const placed_scene<Context, float> placed(context, scattered);
    time_nine_stages(s, placed, "random", contacts);
    time_nine_stages(s, placed_scene<Context, float>(context, sorted), "space", contacts);
    time_grids(s, placed, contacts);
  }
}

/// Spheres at one density: all rows should take about as long as the first.
template <typename Context>
void run_sparse_on(const session& s, const Context& context) {
  const auto time = [&](contact_scene scene, std::string_view distribution) {
    scene.distribution = distribution;
    const placed_scene<Context, float> placed(context, scene);
    std::uint64_t contacts = 0;
    time_detection(s, placed, {"sparse", {}}, contacts);
  };
  const contact_scene tight = sphere_scene(s.full() ? 200'000 : 1000, 1);
  time(tight, "tight domain");
  contact_scene scene = tight;
  scene.side = 1e6 * tight.mean_diameter;
  scene.centers.front() = vec<double, 3>::filled(scene.side);
  time(scene, "one stray body");
  scene = tight;
  scene.side = 30 * tight.side;
  time(scene, "domain 30 times as wide");
  for (std::size_t i = 0; i < scene.centers.size() / 2; ++i)
    scene.centers[i] += vec<double, 3>::filled(20 * tight.side);
  time(scene, "two cubes apart");
}

}  // namespace

void run_sparse_contacts(const session& s) {
  with_context(s, [&](const auto& context) { run_sparse_on(s, context); });
}

void run_detect(const session& s) {
  with_context(s, [&](const auto& context) { run_detect_on(s, context); });
}

void run_contact_methods(const session& s) {
  with_context(s, [&](const auto& context) { run_methods_on(s, context); });
}

void run_bins(const session& s) {
  with_context(s, [&](const auto& context) { run_bins_on(s, context); });
}

}  // namespace quadrat::bench
