// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

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
  mesh_plan(nb::handle box, std::vector<int> mesh, int order, nb::handle periodic, nb::handle origin, bool clip,
            bool accept_outside, bool both_ends, double uses, bool autotune, std::string method, int level, int threads,
            bool wide)
      : wide_(wide), where_{-1, threads, static_cast<determinism>(level)} {
    const auto dimension = static_cast<int>(mesh.size());
    const boxes_given boxes = boxes_from(box, dimension, periodic, origin, 1, extents::of_all_axes);
    settings_.lower = boxes.origins;
    for (std::size_t a = 0; a < mesh.size(); ++a) settings_.length.push_back(boxes.vectors[a * (mesh.size() + 1)]);
    settings_.periodic = boxes.periodic;
    settings_.mesh = std::move(mesh);
    settings_.order = order;
    settings_.clip = clip;
    settings_.accept_outside = accept_outside;
    settings_.both_ends = both_ends;
    settings_.uses = uses;
    settings_.autotune = autotune;
    settings_.method = std::move(method);
    plan_ = cpu_backend().make_spreading(where_, wide_, settings_);  // checks the settings
  }

  void set_points(nb::handle points) {
    const origin_of_arrays where = origin_of(points, "points");
    given_array array = points_from(points, where, dimension(), "points", type(), dimension());
    const turn mine(mutex_);
    placed_ = false;
    if (where.device != where_.device) {
      place there = where_;
      there.device = where.device;
      plan_ = made_by(where, [&](backend& engine) { return engine.make_spreading(there, wide_, settings_); });
      where_ = there;
    }
    array.receive(*plan_);
    unlocked([&] { plan_->set_points(array.points()); });
    placed_ = true;
  }
  void check() {
    const turn mine(mutex_);
    if (placed_) unlocked([&] { plan_->check(); });
  }
  [[nodiscard]] nb::object spread(nb::handle values) {
    const turn mine(mutex_);
    return run(values, "values", by_point(), extents(), &spreading::spread);
  }
  [[nodiscard]] nb::object interpolate(nb::handle mesh_values) {
    const turn mine(mutex_);
    return run(mesh_values, "mesh_values", extents(), by_point(), &spreading::interpolate);
  }
  [[nodiscard]] nb::object gradient(nb::handle mesh_values) {
    const turn mine(mutex_);
    std::vector<std::size_t> each = by_point();
    each.push_back(settings_.mesh.size());
    return run(mesh_values, "mesh_values", extents(), each, &spreading::gradient);
  }
  [[nodiscard]] std::string method() {
    const turn mine(mutex_);
    return plan_->method();
  }

 private:
  using call = void (spreading::*)(const void*, bool, int, void*);

  [[nodiscard]] int dimension() const { return static_cast<int>(settings_.mesh.size()); }
  [[nodiscard]] number type() const { return wide_ ? number::float64 : number::float32; }
  [[nodiscard]] std::vector<std::size_t> extents() const { return {settings_.mesh.begin(), settings_.mesh.end()}; }
  [[nodiscard]] std::vector<std::size_t> by_point() const {
    if (!placed_) throw nb::value_error("there are no points yet, or the last were refused; call set_points");
    return {plan_->points()};
  }
  [[nodiscard]] nb::object run(nb::handle value, const char* name, const std::vector<std::size_t>& from,
                               const std::vector<std::size_t>& to, call operation) {
    origin_of_arrays where = origin_of(value, name);
    where.device = where_.device;
    given_values values = values_from(value, name, from, wide_, where);
    values.array.receive(*plan_);
    results made(where, where.engine());
    void* const memory = made.add(values.array.type(), shape_of(values, to));
    made.prepare(*plan_);
    unlocked([&] {
      (plan_.get()->*operation)(values.array.data(), is_complex(values.array.type()), values.vectors, memory);
    });
    return made.take(0);
  }

  bool wide_;
  place where_;
  spread_settings settings_;
  std::mutex mutex_;
  std::unique_ptr<spreading> plan_;
  bool placed_ = false;  // it has points
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
