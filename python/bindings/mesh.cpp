// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <string>

#include "arrays.hpp"
#include "boxes.hpp"
#include "fields.hpp"
#include "modules.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::python {

given_values values_from(nb::handle value, const char* name, const std::vector<std::size_t>& each, bool wide,
                         const origin_of_arrays& where) {
  given_array array(value, name, where);
  const number real = wide ? number::float64 : number::float32;
  const number complex = wide ? number::complex128 : number::complex64;
  if (array.integer() || array.from_numbers()) array.convert(is_complex(array.type()) ? complex : real);
  if (array.type() != real && array.type() != complex) {
    throw nb::type_error(message(name, " have the type ", array.type_text(), "; ", name_of(real), " and ",
                                 name_of(complex), " are accepted")
                             .c_str());
  }
  const bool single = array.shape() == each;
  std::vector<std::size_t> several = array.shape();
  if (!several.empty()) several.erase(several.begin());
  if (!single && (several != each || array.shape().empty() || array.shape()[0] < 1)) {
    throw nb::value_error(message(name, " have the shape ", shape_text(array.shape()), "; ", shape_text(each),
                                  " is needed, or several of them")
                              .c_str());
  }
  const std::size_t vectors = single ? 1 : array.shape()[0];
  if (vectors > 0x7fffffffu) throw nb::value_error(message(name, " are too many vectors").c_str());
  return {std::move(array), single, static_cast<int>(vectors)};
}

std::vector<std::size_t> shape_of(const given_values& values, const std::vector<std::size_t>& each) {
  std::vector<std::size_t> shape;
  if (!values.single) shape.push_back(static_cast<std::size_t>(values.vectors));
  shape.insert(shape.end(), each.begin(), each.end());
  return shape;
}

namespace {

/// A plan on the device of its last points.
class mesh_plan {
 public:
  mesh_plan(nb::handle box, const std::vector<int>& mesh, int order, nb::handle periodic, nb::handle origin, bool clip,
            bool accept_outside, bool both_ends, double uses, bool autotune, std::string method, int level, int threads,
            bool wide)
      : method_(std::move(method)), where_{.threads = threads, .level = level} {
    options_.type = wide ? QUADRAT_FLOAT64 : QUADRAT_FLOAT32;
    options_.dimension = static_cast<int>(mesh.size());
    options_.domain = boxes_from(box, options_.dimension, periodic, origin, 1, extents::of_all_axes).domain();
    std::copy(mesh.begin(), mesh.end(), options_.mesh);
    options_.order = order;
    options_.clip = clip ? 1 : 0;
    options_.accept_outside = accept_outside ? 1 : 0;
    options_.both_ends = both_ends ? 1 : 0;
    options_.uses = meant(uses);
    options_.autotune = autotune ? 1 : 0;
    options_.method = method_.c_str();
    plan_ = std::make_unique<spread_handle>(where_, &options_);  // checks the settings
  }
  mesh_plan(const mesh_plan&) = delete;
  mesh_plan& operator=(const mesh_plan&) = delete;

  void set_points(nb::handle points) {
    const origin_of_arrays where = origin_of(points, "points");
    given_array array = points_from(points, where, dimension(), "points", type(), dimension());
    const turn mine(mutex_);
    points_.reset();
    if (where.device != where_.device) {
      const place there = where.at(where_.threads, where_.level);
      plan_ = made_at<spread_handle>(there, &options_);
      where_ = there;
    }
    array.receive(*plan_);
    const quadrat_points given = array.points();
    unlocked([&] {
      python::set_points(*plan_, &c_functions::spread_plan_set_points, &c_functions::spread_plan_set_points_async,
                         &given);
    });
    points_ = given.count;
  }
  void check() {
    const turn mine(mutex_);
    if (points_) unlocked([&] { plan_->call(&c_functions::spread_plan_check); });
  }
  [[nodiscard]] nb::object spread(nb::handle values) {
    const turn mine(mutex_);
    return run(values, "values", by_point(), extents(), &c_functions::spread_plan_spread_async);
  }
  [[nodiscard]] nb::object interpolate(nb::handle mesh_values) {
    const turn mine(mutex_);
    return run(mesh_values, "mesh_values", extents(), by_point(), &c_functions::spread_plan_interpolate_async);
  }
  [[nodiscard]] nb::object gradient(nb::handle mesh_values) {
    const turn mine(mutex_);
    std::vector<std::size_t> each = by_point();
    each.push_back(extents().size());
    return run(mesh_values, "mesh_values", extents(), each, &c_functions::spread_plan_interpolate_gradient_async);
  }
  [[nodiscard]] std::string method() {
    const turn mine(mutex_);
    return plan_->get(&c_functions::spread_plan_info).method;
  }

 private:
  using call = decltype(&c_functions::spread_plan_spread_async);

  [[nodiscard]] int dimension() const { return options_.dimension; }
  [[nodiscard]] bool wide() const { return options_.type == QUADRAT_FLOAT64; }
  [[nodiscard]] number type() const { return wide() ? number::float64 : number::float32; }
  [[nodiscard]] std::vector<std::size_t> extents() const { return {options_.mesh, options_.mesh + dimension()}; }
  [[nodiscard]] std::vector<std::size_t> by_point() const {
    if (!points_) throw nb::value_error("there are no points yet, or the last were refused; call set_points");
    return {*points_};
  }
  [[nodiscard]] nb::object run(nb::handle value, const char* name, const std::vector<std::size_t>& from,
                               const std::vector<std::size_t>& to, call operation) {
    origin_of_arrays where = origin_of(value, name);
    where.device = where_.device;
    given_values values = values_from(value, name, from, wide(), where);
    values.array.receive(*plan_);
    results made(where);
    void* const memory = made.add(values.array.type(), shape_of(values, to));
    made.prepare(*plan_);
    auto how = sized<quadrat_mesh_call>();
    how.vectors = values.vectors;
    how.complex_values = is_complex(values.array.type()) ? 1 : 0;
    unlocked([&] {
      plan_->call(operation, values.array.data(), memory, &how);
      plan_->finish();
    });
    return made.take(0);
  }

  std::string method_;
  place where_;
  quadrat_spread_options options_ = sized<quadrat_spread_options>();
  std::mutex mutex_;
  std::unique_ptr<spread_handle> plan_;
  std::optional<std::size_t> points_;
};

}  // namespace

void add_mesh(nb::module_& module) {
  nb::class_<mesh_plan>(module, "MeshPlan")
      .def(nb::init<nb::handle, std::vector<int>, int, nb::handle, nb::handle, bool, bool, bool, double, bool,
                    std::string, int, int, bool>(),
           nb::arg("box"), nb::arg("mesh"), nb::arg("order"), nb::arg("periodic").none(), nb::arg("origin").none(),
           nb::arg("clip"), nb::arg("accept_outside"), nb::arg("both_ends"), nb::arg("uses"), nb::arg("autotune"),
           nb::arg("method"), nb::arg("level"), nb::arg("threads"), nb::arg("wide"))
      .def("set_points", &mesh_plan::set_points, nb::arg("points").none())
      .def("check", &mesh_plan::check)
      .def("spread", &mesh_plan::spread, nb::arg("values").none())
      .def("interpolate", &mesh_plan::interpolate, nb::arg("mesh_values").none())
      .def("gradient", &mesh_plan::gradient, nb::arg("mesh_values").none())
      .def("method", &mesh_plan::method);
}

}  // namespace quadrat::python
