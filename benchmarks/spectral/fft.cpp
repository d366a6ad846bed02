// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <complex>
#include <numbers>
#include <string>
#include <type_traits>
#include <vector>

#include "harness/points.hpp"
#include "harness/stopwatch.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/spectral/fft_libraries.hpp"
#include "spectral/operations.hpp"
#include "spectral/transform.hpp"

namespace quadrat::bench {

namespace {

struct mesh_case {
  int dimension;
  int mesh;   ///< points along each axis
  bool half;  ///< half of the modes along each axis are wanted; otherwise all
  bool real = false;

  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(std::llround(std::pow(mesh, dimension))); }
  [[nodiscard]] detail::transform_shape shape() const {
    detail::transform_shape shape{{1, 1, 1}, {{1, 0}, {1, 0}, {1, 0}}, real};
    for (int axis = 3 - dimension; axis < 3; ++axis) {
      shape.extent[axis] = mesh;
      shape.band[axis] = half ? detail::mode_band{(mesh / 2 + 1) / 2, mesh / 2 / 2} : detail::mode_band{mesh, 0};
    }
    if (real) shape.band[2] = {half ? mesh / 4 + 1 : mesh / 2 + 1, 0};
    return shape;
  }
};

std::vector<mesh_case> mesh_cases(const session& s) {
  if (!s.full()) return {{1, 2000, true}, {2, 60, true}, {3, 24, true}, {3, 24, false}, {3, 24, true, true}};
  std::vector<mesh_case> cases;
  for (const bool half : {false, true}) {
    for (const bool real : {false, true}) {
      cases.push_back({1, 1 << 21, half, real});
      cases.push_back({2, 2048, half, real});
      for (const int mesh : {128, 192, 256}) cases.push_back({3, mesh, half, real});
    }
  }
  return cases;
}

/// Exact values of some modes of a mesh; the first axis is the slowest.
template <typename T>
void check_modes(const mesh_case& what, const std::vector<T>& mesh, const std::vector<T>& modes, std::size_t row) {
  const auto n = static_cast<std::size_t>(what.mesh);
  const auto parts = static_cast<std::size_t>(what.real ? 1 : 2);
  double error = 0, norm = 0;
  for (std::uint64_t sample = 0; sample < 3; ++sample) {
    std::size_t k[3] = {0, 0, 0}, at = 0;
    for (int axis = 3 - what.dimension; axis < 3; ++axis) {
      k[axis] = random_word(72, 3 * sample + static_cast<std::uint64_t>(axis)) % (n / 4);
    }
    for (int axis = 3 - what.dimension; axis < 3; ++axis) at = at * (axis == 2 ? row : n) + k[axis];
    double re = 0, im = 0;
    for (std::size_t j = 0; j < what.size(); ++j) {
      const std::size_t turns = (k[0] * (j / n / n) + k[1] * (j / n % n) + k[2] * (j % n)) % n;
      const auto root = std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(turns) / what.mesh);
      const std::complex<double> value(mesh[parts * j], what.real ? 0 : mesh[parts * j + 1]);
      re += (value * root).real();
      im += (value * root).imag();
    }
    error += std::norm(std::complex<double>(modes[2 * at], modes[2 * at + 1]) - std::complex<double>(re, im));
    norm += std::norm(std::complex<double>(re, im));
  }
  const double deviation = std::sqrt(error / norm), allowed = sizeof(T) == 4 ? 1e-5 : 1e-12;
  if (!(deviation <= allowed)) {
    throw disagreement(message("modes are off by ", deviation, " of their size; ", allowed, " is allowed"));
  }
}

template <typename T, typename Context>
void measure(const session& s, const Context& context, const mesh_case& what, std::string_view library, row& out) {
  const auto transform = detail::make_mode_transform<T>(context, what.shape(), library);
  const auto numbers = random_points<T, 1>(what.size() * (what.real ? 1 : 2), 1, 71);
  auto mesh = to_device(context, numbers);
  array<std::complex<T>, Context> spectrum(context, transform->spectrum_size());
  transform->to_modes(mesh.data(), spectrum.data(), -1);
  check_modes(what, numbers,
              what.real ? to_host(context, reinterpret_cast<const T*>(spectrum.data()), 2 * spectrum.size())
                        : to_host(context, mesh),
              transform->spectrum_row());
  // New input for each sample, outside the timed part: repeated transforms would overflow.
  stopwatch<Context> watch(context);
  const timing measured = repeat(s.plan(), [&] {
    copy_bytes(context, numbers.data(), mesh.data(), mesh.bytes());
    context.synchronize();
    watch.start();
    transform->to_modes(mesh.data(), spectrum.data(), -1);
    return watch.stop_ms();
  });
  add_timing(out, measured, "points_per_s", static_cast<double>(what.size()));
}

template <typename T, typename Context>
void run_case(const session& s, const Context& context, const mesh_case& what) {
  for (const method_info& library : fft_libraries()) {
    if (!(s.on_cuda() ? library.on_cuda : library.on_cpu) || !s.wants_method(library.name)) continue;
    const row identity{{"op", "to_modes"},
                       {"method", library.name},
                       {"precision", sizeof(T) == 4 ? "float" : "double"},
                       {"dim", what.dimension},
                       {"n", what.size()},
                       {"mesh", what.mesh},
                       {"value", what.real ? "real" : "complex"},
                       {"modes", what.half ? "half" : "all"}};
    s.attempt(identity, [&](row& out) { measure<T>(s, context, what, library.name, out); });
  }
}

}  // namespace

void run_fft(const session& s) {
  with_context(s, [&](const auto& context) {
    for (const mesh_case& what : mesh_cases(s)) {
      run_case<float>(s, context, what);
      run_case<double>(s, context, what);
    }
  });
}

}  // namespace quadrat::bench
