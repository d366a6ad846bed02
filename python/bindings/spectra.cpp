// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <string>

#include "boxes.hpp"
#include "modules.hpp"
#include "points.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::python {

std::optional<given_array> reals_by_point(nb::handle value, const char* name, const given_array& points,
                                          const origin_of_arrays& where) {
  if (value.is_none()) return std::nullopt;
  given_array array = floats(value, name, where, points.type());
  if (array.type() != points.type()) {
    throw nb::type_error(
        message(name, " have the type ", array.type_text(), ", and points ", points.type_text(), "; both need the same")
            .c_str());
  }
  if (array.shape() != std::vector<std::size_t>{points.shape()[0]}) {
    throw nb::value_error(message(name, " have the shape ", shape_text(array.shape()), "; one for each of the ",
                                  points.shape()[0], " points is needed")
                              .c_str());
  }
  return array;
}

namespace {

/// Points with weights.
struct weighted_set {
  given_array points;
  std::optional<given_array> weights;

  void receive(worker& reader) {
    points.receive(reader);
    if (weights) weights->receive(reader);
  }
  [[nodiscard]] const void* weights_given() const { return weights ? weights->data() : nullptr; }
};

/// What a spectrum is asked for, but the points.
struct spectrum_request {
  std::vector<int> mesh;
  std::vector<double> edges;
  std::vector<int> multipoles;
  int line_of_sight;
  int order;
  bool interlaced, compensated, subtract_shot_noise, structure_factor;
  std::string method;
  int level, threads;
};

[[nodiscard]] quadrat_spectrum_options options_of(const spectrum_request& asked, const given_array& points,
                                                  const boxes_given& box) {
  auto options = sized<quadrat_spectrum_options>();
  options.type = c_type(points.type());
  options.dimension = static_cast<int>(points.shape()[1]);
  options.domain = box.domain();
  std::copy(asked.mesh.begin(), asked.mesh.end(), options.mesh);
  options.order = asked.order;
  options.single_mesh = asked.interlaced ? 0 : 1;
  options.uncompensated = asked.compensated ? 0 : 1;
  options.subtract_shot_noise = asked.subtract_shot_noise ? 1 : 0;
  options.structure_factor = asked.structure_factor ? 1 : 0;
  options.multipoles = asked.multipoles.data();
  options.multipole_count = asked.multipoles.size();
  options.line_of_sight = asked.line_of_sight;
  options.edges = asked.edges.data();
  options.edge_count = asked.edges.size();
  options.method = asked.method.c_str();
  return options;
}

/// NumPy arrays: edges, k, modes, power by multipole, and the shot noise.
[[nodiscard]] nb::tuple as_arrays(const quadrat_spectrum_view& found) {
  results made({});
  const auto copied = [&](const double* from, const std::vector<std::size_t>& shape) {
    std::size_t size = 1;
    for (const std::size_t extent : shape) size *= extent;
    std::copy_n(from, size, static_cast<double*>(made.add(number::float64, shape)));
  };
  copied(found.edges, {found.bins + 1});
  copied(found.k, {found.bins});
  std::copy_n(found.modes, found.bins, static_cast<std::int64_t*>(made.add(number::int64, {found.bins})));
  copied(found.power, {found.multipoles, found.bins});
  return nb::make_tuple(made.take(0), made.take(1), made.take(2), made.take(3), found.shot_noise);
}

[[nodiscard]] nb::tuple power_spectrum(nb::handle points, nb::handle weights, nb::handle others,
                                       nb::handle other_weights, nb::handle box, nb::handle origin,
                                       const std::vector<int>& mesh, const std::vector<double>& edges,
                                       const std::vector<int>& multipoles, int line_of_sight, int order,
                                       bool interlaced, bool compensated, bool subtract_shot_noise,
                                       bool structure_factor, const std::string& method, int level, int threads) {
  const spectrum_request asked{mesh,       edges,       multipoles,          line_of_sight,    order,
                               interlaced, compensated, subtract_shot_noise, structure_factor, method,
                               level,      threads};
  const int dimension = static_cast<int>(mesh.size());
  const origin_of_arrays where = origin_of(points, "points");
  weighted_set first{points_from(points, where, 2, "points", std::nullopt, dimension), std::nullopt};
  first.weights = reals_by_point(weights, "weights", first.points, where);
  std::optional<weighted_set> second;
  if (!others.is_none()) {
    second.emplace(weighted_set{points_from(others, where, 2, "others", first.points.type(), dimension), std::nullopt});
    second->weights = reals_by_point(other_weights, "other_weights", second->points, where);
  }
  const boxes_given space = boxes_from(box, dimension, nb::none(), origin, 1, extents::of_all_axes);
  const quadrat_spectrum_options options = options_of(asked, first.points, space);
  const auto spectrum = made_at<spectrum_handle>(where.at(threads, level), &options);
  first.receive(*spectrum);
  if (second) second->receive(*spectrum);
  const quadrat_points given = first.points.points();
  unlocked([&] {
    if (!second) return spectrum->call(&c_functions::power_spectrum_measure, &given, first.weights_given());
    const quadrat_points more = second->points.points();
    spectrum->call(&c_functions::power_spectrum_measure_cross, &given, first.weights_given(), &more,
                   second->weights_given());
  });
  return as_arrays(spectrum->get(&c_functions::power_spectrum_view));
}

}  // namespace

void add_spectra(nb::module_& module) {
  const auto any = [](const char* name) { return nb::arg(name).none(); };
  module.def("power_spectrum", &power_spectrum, any("points"), any("weights"), any("others"), any("other_weights"),
             any("box"), any("origin"), nb::arg("mesh"), nb::arg("edges"), nb::arg("multipoles"),
             nb::arg("line_of_sight"), nb::arg("order"), nb::arg("interlaced"), nb::arg("compensated"),
             nb::arg("subtract_shot_noise"), nb::arg("structure_factor"), nb::arg("method"), nb::arg("level"),
             nb::arg("threads"));
}

}  // namespace quadrat::python
