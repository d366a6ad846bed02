// SPDX-License-Identifier: BSD-3-Clause
#include "boxes.hpp"

#include <algorithm>
#include <cmath>

#include "quadrat/core/error.hpp"

namespace quadrat::python {

namespace {

/// Each has a box in memory.
constexpr std::int64_t most_systems = std::int64_t{1} << 27;

/// Lengths as a list or tuple of numbers, without NumPy.
[[nodiscard]] bool lengths_from(nb::handle value, int dimension, std::vector<double>& lengths) {
  const bool sequence = PyList_CheckExact(value.ptr()) || PyTuple_CheckExact(value.ptr());
  if (!sequence || PySequence_Size(value.ptr()) != dimension) return false;
  lengths.clear();
  for (const nb::handle item : value) {
    double length = 0;
    if (!nb::try_cast(item, length)) return false;
    lengths.push_back(length);
  }
  return true;
}

void add_diagonal(const double* lengths, std::size_t dimension, std::vector<double>& vectors) {
  for (std::size_t a = 0; a < dimension; ++a) {
    if (lengths[a] >= 0 && std::isfinite(lengths[a])) continue;
    throw nb::value_error(message("the box is ", lengths[a], " long along axis ", a,
                                  "; its lengths must be positive and finite, or 0 along an open axis")
                              .c_str());
  }
  for (std::size_t a = 0; a < dimension; ++a) {
    for (std::size_t b = 0; b < dimension; ++b) vectors.push_back(a == b ? lengths[a] : 0.0);
  }
}

/// `systems` times the same.
void repeat(std::vector<double>& values, std::size_t systems) {
  const std::size_t each = values.size();
  values.reserve(each * systems);
  for (std::size_t s = 1; s < systems; ++s) {
    for (std::size_t k = 0; k < each; ++k) values.push_back(values[k]);
  }
}

[[nodiscard]] std::vector<double> vectors_from(nb::handle box, std::size_t dimension, std::size_t systems) {
  std::vector<double> lengths, vectors;
  if (lengths_from(box, static_cast<int>(dimension), lengths)) {
    add_diagonal(lengths.data(), dimension, vectors);
    repeat(vectors, systems);
    return vectors;
  }
  host_numbers given = numbers_from(box, "box");
  const std::vector<std::size_t>& shape = given.shape;
  const std::size_t axes = shape.size();
  const bool square = axes >= 2 && shape[axes - 1] == dimension && shape[axes - 2] == dimension;
  const bool each = axes > 0 && (shape[0] == systems || shape[0] == 1);
  if (square && (axes == 2 || (axes == 3 && each))) {
    vectors = std::move(given.values);
  } else if (axes > 0 && shape[axes - 1] == dimension && (axes == 1 || (axes == 2 && each))) {
    for (std::size_t s = 0; s < given.values.size(); s += dimension) {
      add_diagonal(given.values.data() + s, dimension, vectors);
    }
  } else {
    throw nb::value_error(message("the box has the shape ", shape_text(shape), "; (", dimension, ",) lengths or (",
                                  dimension, ", ", dimension, ") vectors are accepted",
                                  systems > 1 ? message(", or one of them for each of the ", systems, " systems") : "")
                              .c_str());
  }
  if (vectors.size() == dimension * dimension) repeat(vectors, systems);
  return vectors;
}

/// One value for all, one per axis, or those of each system.
[[nodiscard]] std::vector<double> by_axis(nb::handle value, const char* name, std::size_t dimension,
                                          std::size_t systems) {
  host_numbers given = numbers_from(value, name);
  std::vector<double>& values = given.values;
  if (values.size() == 1 && given.shape.size() <= 1) return std::vector<double>(dimension * systems, values[0]);
  if (given.shape == std::vector<std::size_t>{dimension}) {
    repeat(values, systems);
  } else if (given.shape != std::vector<std::size_t>{systems, dimension}) {
    throw nb::value_error(message(name, " has the shape ", shape_text(given.shape),
                                  "; one value, or one for each of the ", dimension, " axes, is accepted")
                              .c_str());
  }
  return std::move(values);
}

/// The place of the k-th value by system and axis, in words.
[[nodiscard]] std::string along(std::size_t k, std::size_t dimension, std::size_t systems) {
  return message(" along axis ", k % dimension, systems > 1 ? message(" of system ", k / dimension) : "");
}

[[nodiscard]] std::vector<int> periodic_from(nb::handle value, std::size_t dimension, std::size_t systems) {
  if (PyBool_Check(value.ptr())) {
    return std::vector<int>(dimension * systems, value.ptr() == Py_True ? 1 : 0);
  }
  std::vector<int> result;
  for (const double flag : by_axis(value, "periodic", dimension, systems)) {
    if (flag != 0.0 && flag != 1.0) {
      throw nb::value_error(message("periodic is ", flag, along(result.size(), dimension, systems),
                                    "; True or False is accepted, for all axes or for each")
                                .c_str());
    }
    result.push_back(flag != 0.0 ? 1 : 0);
  }
  return result;
}

[[nodiscard]] std::vector<double> origins_from(nb::handle value, std::size_t dimension, std::size_t systems) {
  std::vector<double> result = by_axis(value, "origin", dimension, systems);
  for (std::size_t k = 0; k < result.size(); ++k) {
    if (std::isfinite(result[k])) continue;
    throw nb::value_error(
        message("origin is ", result[k], along(k, dimension, systems), "; finite numbers are accepted").c_str());
  }
  return result;
}

/// Refuses zeros along an axis that needs a vector.
void check_extents(const boxes_given& boxes, extents needed) {
  const auto axes = static_cast<std::size_t>(boxes.dimension);
  for (std::size_t k = 0; k < boxes.periodic.size(); ++k) {
    const double* const vector = boxes.vectors.data() + k * axes;
    if (!std::all_of(vector, vector + axes, [](double component) { return component == 0; })) continue;
    if (boxes.periodic[k] == 0 && needed == extents::of_periodic_axes) continue;
    const char* const reason = boxes.periodic[k] != 0 ? ", which is periodic; give its length, or say that it is open"
                                                      : "; what is asked for needs one along open axes, too";
    throw nb::value_error(message("the box has no extent along axis ", k % axes, reason).c_str());
  }
}

}  // namespace

quadrat_domain boxes_given::domain(std::size_t system) const {
  quadrat_domain result{};
  const auto axes = static_cast<std::size_t>(dimension);
  for (std::size_t a = 0; a < axes; ++a) {
    result.lower[a] = origins[system * axes + a];
    result.length[a] = vectors[(system * axes + a) * axes + a];
    result.periodic[a] = periodic[system * axes + a];
  }
  return result;
}

boxes_given boxes_from(nb::handle box, int dimension, nb::handle periodic, nb::handle origin, std::size_t systems,
                       extents needed) {
  const auto axes = static_cast<std::size_t>(dimension);
  boxes_given result;
  result.dimension = dimension;
  result.count = systems;
  result.periodic = periodic.is_none() ? std::vector<int>(axes * systems, box.is_none() ? 0 : 1)
                                       : periodic_from(periodic, axes, systems);
  if (box.is_none()) {
    if (std::find(result.periodic.begin(), result.periodic.end(), 1) != result.periodic.end()) {
      throw nb::value_error("periodic axes need a box: its lengths, or its vectors as rows");
    }
    const std::vector<double> ones(axes, 1.0);
    add_diagonal(ones.data(), axes, result.vectors);
    repeat(result.vectors, systems);
  } else {
    result.vectors = vectors_from(box, axes, systems);
    check_extents(result, needed);
  }
  result.origins = origin.is_none() ? std::vector<double>(axes * systems, 0.0) : origins_from(origin, axes, systems);
  return result;
}

std::size_t boxes_in(nb::handle box, int dimension, const std::string& of) {
  if (box.is_none()) return 1;
  const std::vector<std::size_t> shape = numbers_from(box, "box").shape;
  const auto axes = static_cast<std::size_t>(dimension);
  if (shape == std::vector<std::size_t>{axes, axes}) {
    const std::string vectors = message(dimension, ", ", dimension, ")");
    throw nb::value_error(message("the box has the shape ", shape_text(shape), ", which may be vectors for every ", of,
                                  " or lengths for each; give vectors for all as (1, ", vectors,
                                  ", for each as (number of ", of, "s, ", vectors, ", or lengths for all as (",
                                  dimension, ",)")
                              .c_str());
  }
  return shape.size() < 2 ? 1 : shape[0];
}

std::size_t systems_of(std::optional<given_array>& systems, nb::handle box, int dimension,
                       const origin_of_arrays& where, int threads, std::optional<given_array>* of_queries) {
  if (!systems) return 1;
  if (const std::size_t boxes = boxes_in(box, dimension, "system"); boxes != 1) return std::max<std::size_t>(boxes, 1);
  std::int64_t last = std::max<std::int64_t>(largest_of(*systems, where.at(threads)), 0);
  if (of_queries != nullptr && *of_queries) last = std::max(last, largest_of(**of_queries, where.at(threads)));
  if (last >= most_systems) {
    throw nb::value_error(
        message("systems are numbered up to ", last, "; 0 to ", most_systems - 1, " is accepted").c_str());
  }
  return static_cast<std::size_t>(last) + 1;
}

}  // namespace quadrat::python
