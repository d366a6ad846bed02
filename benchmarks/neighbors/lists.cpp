// SPDX-License-Identifier: BSD-3-Clause
#include <array>

#include "neighbors/operations.hpp"
#include "neighbors/problem.hpp"

namespace quadrat::bench {

std::vector<std::string_view> wanted_neighbor_methods(const session& s) {
  std::vector<std::string_view> names;
  for (const neighbor_method& method : neighbor_methods()) {
    const bool possible = s.on_cuda() ? method.on_cuda : method.on_cpu;
    if (possible && s.wants_method(method.name)) names.push_back(method.name);
  }
  return names;
}

namespace {

template <typename T>
[[nodiscard]] neighbor_options<T> options_for(T cutoff, std::string_view method = {}) {
  neighbor_options<T> options;
  options.cutoff = cutoff;
  options.method = method;
  return options;
}

/// The automatic choice and every method; `all_pairs` only if that takes a reasonable time.
template <typename T, typename Context>
void time_methods(const session& s, const problem<Context, T>& what, std::string_view operation,
                  std::string_view distribution, bool all) {
  std::uint64_t pairs = 0;
  time_list(s, what, operation, options_for(what.cutoff), distribution, pairs);
  if (!all) return;
  for (const std::string_view method : wanted_neighbor_methods(s)) {
    if (method == "brute_force" && what.count > 40000) continue;
    time_list(s, what, operation, options_for(what.cutoff, method), distribution, pairs);
  }
}

/// 64 Gaussian blobs of sigma 0.02 in the unit cube; points outside are drawn again.
template <typename T>
[[nodiscard]] std::vector<T> blobs(std::size_t n) {
  constexpr std::uint64_t blob_count = 64;
  std::vector<T> values(3 * n);
  std::uint64_t draw = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double center = random_unit(11, (i / 3 % blob_count) * 3 + i % 3) - 0.5;
    double x = 1;
    while (!(x >= -0.5 && x <= 0.5)) {
      const double radius = std::sqrt(-2 * std::log(1 - random_unit(12, draw)));
      x = center + 0.02 * radius * std::cos(2 * std::numbers::pi * random_unit(13, draw));
      ++draw;
    }
    values[i] = static_cast<T>(x);
  }
  return values;
}

template <typename Context>
void run_csr_on(const session& s, const Context& context) {
  if (!s.full()) {
    time_methods(s, uniform_problem<Context, float>(context, 4096, 40, false), "csr", "uniform", true);
    time_methods(s, uniform_problem<Context, double>(context, 4096, 40, false), "csr", "uniform", false);
    return;
  }
  if (!s.on_cuda()) {
    for (const std::size_t n : {std::size_t{100'000}, std::size_t{1'000'000}}) {
      time_methods(s, uniform_problem<Context, double>(context, n, 40, false), "csr", "uniform", n == 100'000);
    }
    return;
  }
  for (const std::size_t n : powers_of_two(15, 15)) {
    time_methods(s, uniform_problem<Context, float>(context, n, 40, false), "csr", "uniform", true);
  }
  for (const std::size_t n : {std::size_t{1} << 18, std::size_t{1} << 20, std::size_t{1} << 22, std::size_t{1} << 24}) {
    time_methods(s, uniform_problem<Context, float>(context, n, 40, false), "csr", "uniform",
                 n <= std::size_t{1} << 20);
  }
  for (const double neighbors : {16.0, 100.0}) {
    time_methods(s, uniform_problem<Context, float>(context, std::size_t{1} << 20, neighbors, false), "csr", "uniform",
                 false);
  }
  time_methods(s, uniform_problem<Context, double>(context, std::size_t{1} << 20, 40, false), "csr", "uniform", false);
}

/// A cube around the origin.
[[nodiscard]] lattice<float, 3> cube(float edge, bool periodic) {
  const auto half = vec<float, 3>::filled(edge / 2);
  return make_lattice(make_box(half * -1.0f, half, vec<bool, 3>::filled(periodic)));
}

/// Uniform points in `blobs` cubes of equal density, at random places in a cube of edge `across`.
[[nodiscard]] std::vector<float> cubes_apart(std::size_t n, std::size_t blobs, double across) {
  const double edge = std::cbrt(1.0 / static_cast<double>(blobs));
  std::vector<float> values(3 * n);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t blob = i / 3 * blobs / n;
    const double center = (across - edge) * (random_unit(17, 3 * blob + i % 3) - 0.5);
    values[i] = static_cast<float>(center + edge * (random_unit(18, i) - 0.5));
  }
  return values;
}

/// The density is the same everywhere, so all rows should take about as long as the first. The first is timed
/// alternately with each of them.
template <typename Context>
void run_sparse_on(const session& s, const Context& context) {
  const std::size_t n = s.full() ? 200'000 : 4096;
  const double cutoff = cutoff_for(40, static_cast<double>(n));
  const std::vector<float> points = random_points<float>(n, 0.5, 16);
  const auto far = static_cast<float>(1e6 * cutoff);
  std::function<double()> first;
  const auto time = [&](std::string_view distribution, const std::vector<float>& values, const lattice<float, 3>& box,
                        bool accept_outside) {
    std::uint64_t pairs = 0;
    neighbor_options<float> options = options_for(static_cast<float>(cutoff));
    options.accept_outside = accept_outside;
    auto what = std::make_shared<const problem<Context, float>>(context, values, std::vector{box}, cutoff, 40);
    time_list(s, *what, "sparse", options, distribution, pairs, {}, first);
    if (!first) first = list_builder(std::move(what), options);
  };
  time("tight box", points, cube(1, false), false);
  std::vector<float> stray = points;
  for (std::size_t axis = 0; axis < 3; ++axis) stray[axis] = axis == 1 ? -far : far;
  time("one stray point", stray, cube(2 * far, false), false);
  time("open box 30 times as wide", points, cube(30, false), false);
  time("periodic box 30 times as wide", points, cube(30, true), false);
  time("open box 1000 times as wide", points, cube(1000, false), false);
  time("points outside accepted", points, cube(0.5f, false), true);
  time("2 cubes in a box of 10000 cutoffs", cubes_apart(n, 2, 1e4 * cutoff), cube(far, false), false);
  time("64 cubes in a box of 10000 cutoffs", cubes_apart(n, 64, 1e4 * cutoff), cube(far, false), false);
}

/// Boxes of volume 1, so all rows should take about as long as the first, which is timed alternately with each of them.
/// The last four are strongly tilted.
/// If points outside are accepted, half of them are outside.
template <typename Context, typename T>
void run_triclinic_on(const session& s, const Context& context) {
  const std::size_t n = s.full() ? (s.on_cuda() ? std::size_t{1} << 20 : 200'000) : 4096;
  const double cutoff = cutoff_for(40, static_cast<double>(n));
  const std::vector<T> unit = random_points<T>(n, 0.5, 19);
  std::function<double()> first;
  const auto time = [&](std::string_view shape, const vec<vec<double, 3>, 3>& edges, bool open_with_points_outside) {
    vec<vec<T, 3>, 3> vectors{};
    for (int k = 0; k < 3; ++k) vectors[k] = cast<T>(edges[k]);
    std::vector<T> values(3 * n);
    for (std::size_t i = 0; i < n; ++i) {
      vec<T, 3> point{};
      for (std::size_t k = 0; k < 3; ++k) point += (unit[3 * i + k] + T(0.5)) * vectors[static_cast<int>(k)];
      for (std::size_t k = 0; k < 3; ++k) values[3 * i + k] = point[static_cast<int>(k)];
    }
    vec<bool, 3> periodic = vec<bool, 3>::filled(true);
    periodic[2] = !open_with_points_outside;
    if (open_with_points_outside) vectors[2] = T(0.5) * vectors[2];
    const std::vector boxes{make_lattice<T, 3>({}, vectors, periodic)};
    auto what = std::make_shared<const problem<Context, T>>(context, values, boxes, cutoff, 40);
    neighbor_options<T> options = options_for(what->cutoff);
    options.accept_outside = open_with_points_outside;
    std::uint64_t pairs = 0;
    time_list(s, *what, "triclinic", options, shape, pairs, {}, first);
    if (!first) first = list_builder(std::move(what), options);
  };
  const double fcc = std::cbrt(0.5);
  const vec<vec<double, 3>, 3> tilted{{{{1, 0, 0}}, {{0.3, 1, 0}}, {{0.2, 0.25, 1}}}};
  const vec<vec<double, 3>, 3> upright{{{{1, 0, 0}}, {{0, 1, 0}}, {{0, 0, 1}}}};
  time("upright", upright, false);
  time("upright, open along the third vector, points outside", upright, true);
  time("tilted", tilted, false);
  time("turned", {{{{0.8, 0.6, 0}}, {{-0.6, 0.8, 0}}, {{0, 0, 1}}}}, false);
  time("tilted, open along the third vector, points outside", tilted, true);
  time("tilted by 60 degrees", {{{{0, fcc, fcc}}, {{fcc, 0, fcc}}, {{fcc, fcc, 0}}}}, false);
  time("tilted by one length", {{{{1, 0, 0}}, {{1, 1, 0}}, {{0.9, 0.8, 1}}}}, false);
  time("tilted by 2.5 lengths", {{{{1, 0, 0}}, {{2.5, 1, 0}}, {{1.75, 2.25, 1}}}}, false);
  time("tilted by 7.3 lengths", {{{{1, 0, 0}}, {{7.3, 1, 0}}, {{-5.1, 7.3, 1}}}}, false);
}

}  // namespace

void run_triclinic(const session& s) {
  with_context(s, [&](const auto& context) {
    using context_type = std::remove_cvref_t<decltype(context)>;
    run_triclinic_on<context_type, float>(s, context);
    if (!s.on_cuda()) run_triclinic_on<context_type, double>(s, context);
  });
}

void run_sparse(const session& s) {
  with_context(s, [&](const auto& context) { run_sparse_on(s, context); });
}

void run_csr(const session& s) {
  with_context(s, [&](const auto& context) { run_csr_on(s, context); });
}

void run_clustered(const session& s) {
  with_context(s, [&](const auto& context) {
    using context_type = std::remove_cvref_t<decltype(context)>;
    const std::size_t n = s.full() && s.on_cuda() ? std::size_t{1} << 20 : std::size_t{1} << 14;
    const problem<context_type, float> what(context, blobs<float>(n), {unit_cube<float>(false)},
                                            cutoff_for(40, static_cast<double>(n)), 40);
    time_methods(s, what, "clustered", "64 blobs", false);
  });
}

void run_small(const session& s) {
  with_context(s, [&](const auto& context) {
    using context_type = std::remove_cvref_t<decltype(context)>;
    for (const std::size_t n : {std::size_t{1000}, std::size_t{10'000}}) {
      time_methods(s, uniform_problem<context_type, float>(context, n, 40, true), "small", "uniform periodic",
                   s.full());
    }
  });
}

void run_batch(const session& s) {
  with_context(s, [&](const auto& context) {
    using context_type = std::remove_cvref_t<decltype(context)>;
    const std::size_t systems = s.full() ? 4096 : 64;
    constexpr std::size_t atoms = 256;
    problem<context_type, float> what(context, random_points<float>(systems * atoms, 0.5, 5),
                                      std::vector<lattice<float, 3>>(systems, unit_cube<float>(true)),
                                      cutoff_for(40, atoms), 40);
    std::vector<std::uint32_t> system(what.count);
    for (std::size_t i = 0; i < system.size(); ++i) system[i] = static_cast<std::uint32_t>(i / atoms);
    what.systems = to_device(context, system);
    time_methods(s, what, "batch", "uniform periodic", false);
  });
}

void run_separations(const session& s) {
  with_context(s, [&](const auto& context) {
    using context_type = std::remove_cvref_t<decltype(context)>;
    const auto time = [&]<typename T>(std::size_t n, T) {
      const auto what = uniform_problem<context_type, T>(context, n, 40, true);
      neighbor_options<T> options = options_for(what.cutoff);
      options.vectors = options.shifts = true;
      std::uint64_t pairs = 0;
      time_list(s, what, "separations", options, "uniform periodic", pairs);
    };
    for (const std::size_t n : {std::size_t{100'000}, std::size_t{1'000'000}}) {
      if (!s.full()) return time(4096, double{});
      time(n, float{});
      time(n, double{});
    }
  });
}

void run_outputs(const session& s) {
  with_context(s, [&](const auto& context) {
    using context_type = std::remove_cvref_t<decltype(context)>;
    const std::size_t n = s.full() ? std::size_t{1} << (s.on_cuda() ? 20 : 17) : 4096;
    const auto what = uniform_problem<context_type, float>(context, n, 40, false);
    std::uint64_t full = 0;
    std::uint64_t half = 0;
    const auto time = [&](std::string_view name, std::uint64_t& pairs, const auto& change) {
      neighbor_options<float> options = options_for(what.cutoff);
      change(options);
      time_list(s, what, "outputs", options, "uniform", pairs, name);
    };
    using options = neighbor_options<float>;
    time("csr", full, [](options&) {});
    time("half", half, [](options& o) { o.pairs = neighbor_pairs::half; });
    time("half, vectors and shifts", half, [](options& o) {
      o.pairs = neighbor_pairs::half;
      o.vectors = o.shifts = true;
    });
    time("pairs", full, [](options& o) { o.layout = neighbor_layout::pairs; });
    time("sorted", full, [](options& o) { o.sorted = true; });
    time("three cutoffs", full, [&](options& o) { o.inner_cutoffs = {what.cutoff * 0.5f, what.cutoff * 0.8f}; });
    time("squared distances", full, [](options& o) { o.squared_distances = true; });
    time("vectors and shifts", full, [](options& o) { o.vectors = o.shifts = true; });
    time("matrix of 96", full, [](options& o) {
      o.layout = neighbor_layout::matrix;
      o.width = 96;
    });
  });
}

}  // namespace quadrat::bench
