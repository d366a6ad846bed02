// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/ewald/electrostatics.hpp"

#include <cmath>
#include <string>

#include "ewald/operations.hpp"
#include "ewald/systems.hpp"
#include "harness/stopwatch.hpp"
#include "quadrat/core/array.hpp"

namespace quadrat::bench {

namespace {

/// Charges and results in the memory of a context.
template <typename Context, typename T>
class subject {
 public:
  subject(const Context& context, const charges_of_systems<T>& of, const electrostatics_options& options)
      : of_(of),
        sums_(context, options),
        points_(to_device(context, of.points)),
        charges_(to_device(context, of.charges)),
        systems_(to_device(context, of.system_of_point)),
        forces_(context, of.points.size()),
        energy_(context, of.cells.size()) {
    sums_.compute(input(), output());
  }
  void enqueue() { sums_.compute_async(input(), output()); }
  /// Waits, as callers do that read results on the host.
  void compute() { sums_.compute(input(), output()); }
  [[nodiscard]] std::vector<vec<T, 3>> forces(const Context& context) {
    sums_.check();
    return to_host(context, forces_);
  }
  [[nodiscard]] const electrostatics<Context, T>& sums() const { return sums_; }

 private:
  [[nodiscard]] electrostatics_input<T> input() const {
    return {points_of(points_.data(), points_.size()), charges_.data(), of_.cells,
            of_.system_of_point.empty() ? nullptr : systems_.data(), of_.pairs};
  }
  [[nodiscard]] electrostatics_output<T> output() {
    return {forces_.data(), nullptr, nullptr, energy_.data(), nullptr};
  }

  const charges_of_systems<T>& of_;
  electrostatics<Context, T> sums_;
  array<vec<T, 3>, Context> points_;
  array<T, Context> charges_;
  array<std::uint32_t, Context> systems_;
  array<vec<T, 3>, Context> forces_;
  array<double, Context> energy_;
};

/// Exact forces, for measuring errors.
struct reference_forces {
  std::vector<vec<double, 3>> forces;
  double rms = 0;
  double unit = 0;  ///< the reference force

  template <typename T>
  [[nodiscard]] double error_of(const std::vector<vec<T, 3>>& found) const {
    double sum = 0;
    for (std::size_t i = 0; i < found.size(); ++i) sum += squared_norm(cast<double>(found[i]) - forces[i]);
    return std::sqrt(sum / static_cast<double>(found.size())) / rms;
  }
};

template <typename Context>
reference_forces exact_forces(const Context& context, const charges_of_systems<double>& of, ewald_parts parts,
                              const ewald_parameters& parameters, double accuracy) {
  electrostatics_options options;
  options.accuracy = accuracy;
  options.method = "spme";
  options.parts = parts;
  if (parts != ewald_parts::both) {
    options.parameters = parameters;
    options.parameters.order = 8;
    for (int axis = 0; axis < 3; ++axis) options.parameters.mesh[axis] *= 2;
  }
  reference_forces result;
  result.forces = subject<Context, double>(context, of, options).forces(context);
  double squares = 0, charges = 0;
  for (const auto& force : result.forces) squares += squared_norm(force);
  for (const double q : of.charges) charges += q * q;
  const auto n = static_cast<double>(of.points.size());
  result.rms = std::sqrt(squares / n);
  double volume = 0;
  for (const auto& cell : of.cells) volume += cell.vectors[0][0] * cell.vectors[1][1] * cell.vectors[2][2];
  result.unit = charges / n / std::pow(volume / n, 2.0 / 3);
  return result;
}

row identity_of(const std::string& op, const std::string& method, bool single, std::size_t n) {
  return {{"op", op}, {"method", method}, {"precision", single ? "float" : "double"}, {"n", n}};
}

template <typename Context, typename T>
void measure(const session& s, const Context& context, const charges_of_systems<T>& of,
             const electrostatics_options& options, const reference_forces& exact, row& out) {
  subject<Context, T> it(context, of, options);
  const electrostatics_report& report = it.sums().report();
  const double error = exact.error_of(it.forces(context));
  out["chosen"] = std::string(report.method);
  out["cutoff"] = report.parameters.cutoff;
  out["neighbors"] = report.neighbors;
  out["splitting"] = report.parameters.splitting;
  out["mesh"] = report.parameters.mesh[0];
  out["order"] = report.parameters.order;
  out["relative_error"] = error;
  out["predicted_error"] = report.error * exact.unit / exact.rms;
  out["graph"] = s.on_cuda();
  timing_plan plan = s.plan();
  if (!s.on_cuda()) plan.least = 3;
  add_timing(out, time_repeated(context, plan, [&] { it.enqueue(); }), "charges_per_s",
             static_cast<double>(of.points.size()));
  stopwatch<cpu_context> watch{cpu_context()};
  const timing called = repeat(plan, [&] {
    watch.start();
    it.compute();
    return watch.stop_ms();
  });
  out["call_ms"] = called.median_ms;
  out["bytes"] = it.sums().bytes();
}

template <typename T>
void run_reciprocal_of(const session& s, std::size_t n, int mesh) {
  electrostatics_options options;
  options.parts = ewald_parts::long_range;
  options.method = "spme";
  options.accuracy = 1e-3;
  options.parameters.cutoff = 4;
  options.parameters.mesh = vec<int, 3>::filled(mesh);
  options.parameters.order = 6;
  options.parameters.splitting = 0.9 * mesh / std::cbrt(static_cast<double>(n)) / 2;
  row identity = identity_of("reciprocal", "spme", sizeof(T) == 4, n);
  identity["mesh"] = mesh;
  identity["order"] = 6;
  s.attempt(identity, [&](row& out) {
    with_context(s, [&](const auto& context) {
      const auto exact = exact_forces(context, random_boxes<double>(1, n), options.parts, options.parameters, 1e-6);
      const auto charges = random_boxes<T>(1, n);
      measure(s, context, charges, options, exact, out);
    });
  });
}

/// A row of one system, with errors relative to its root mean square force. `make(number)` gives the charges in the
/// precision of `number`; `kind` names them.
template <typename T, typename Make>
void run_one(const session& s, row identity, const std::string& kind, double accuracy, const Make& make) {
  identity["accuracy"] = accuracy;
  s.attempt(identity, [&](row& out) {
    with_context(s, [&](const auto& context) {
      const auto& exact = s.once<reference_forces>(
          kind, [&] { return exact_forces(context, make(double{}), ewald_parts::both, {}, 1e-7); });
      electrostatics_options options;
      options.method = identity["method"].get<std::string>();
      options.accuracy = accuracy * exact.rms / exact.unit;
      const auto charges = make(T{});
      measure(s, context, charges, options, exact, out);
    });
  });
}

template <typename T>
void run_water(const session& s, const std::string& op, const std::string& method, std::size_t atoms, double accuracy) {
  run_one<T>(s, identity_of(op, method, sizeof(T) == 4, atoms), "water" + std::to_string(atoms), accuracy,
             [&](auto number) { return water_box<decltype(number)>(atoms / 3); });
}

template <typename T>
void run_batch_of(const session& s, std::size_t systems, std::size_t points) {
  row identity = identity_of("batch", "auto", sizeof(T) == 4, points);
  identity["systems"] = systems;
  s.attempt(identity, [&](row& out) {
    with_context(s, [&](const auto& context) {
      const auto exact = exact_forces(context, random_boxes<double>(systems, points), ewald_parts::both, {}, 1e-7);
      electrostatics_options options;
      options.accuracy = 5e-4 * exact.rms / exact.unit;
      const auto charges = random_boxes<T>(systems, points);
      measure(s, context, charges, options, exact, out);
    });
  });
}

}  // namespace

void run_reciprocal(const session& s) {
  run_reciprocal_of<float>(s, 100'000, 128);
  if (s.full()) {
    run_reciprocal_of<float>(s, 1'000'000, 256);
    run_reciprocal_of<double>(s, 100'000, 128);
  }
}

void run_electrostatics(const session& s) {
  run_water<float>(s, "whole", "auto", s.on_cuda() ? 92'160 : 19'998, s.on_cuda() ? 5e-4 : 1e-4);
  if (!s.full()) return;
  run_water<float>(s, "whole", "auto", 999'999, 5e-4);
  run_water<float>(s, "whole", "auto", 999'999, 1e-4);
  run_water<double>(s, "whole", "auto", 66'000, 1e-4);
}

void run_equal_errors(const session& s) {
  for (const double accuracy : {5e-4, 1e-4}) {
    for (const char* method : {"spme", "esp"}) run_water<float>(s, "methods", method, 92'160, accuracy);
  }
}

void run_lattice(const session& s) {
  std::vector<std::size_t> edges{28};
  if (s.on_cuda()) edges.push_back(46);
  if (s.on_cuda() && s.full()) edges.push_back(100);
  for (const std::size_t edge : edges) {
    for (const double accuracy : {5.6e-4, 6e-5}) {
      run_one<float>(s, identity_of("lattice", "auto", true, edge * edge * edge), "lattice" + std::to_string(edge),
                     accuracy, [&](auto number) { return jittered_lattice<decltype(number)>(edge); });
    }
  }
}

void run_small_systems(const session& s) { run_batch_of<float>(s, 1024, 128); }

}  // namespace quadrat::bench
