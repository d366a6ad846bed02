// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>

#include "arrays.hpp"
#include "fields.hpp"
#include "modules.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::python {

namespace {

/// Types 1 and 2, on the device of the last points.
class transform_plan {
 public:
  transform_plan(std::vector<int> n_modes, double tolerance, bool real, bool centered, std::vector<double> period,
                 double oversampling, std::string method, int level, int threads, bool wide)
      : wide_(wide),
        where_{-1, threads, static_cast<determinism>(level)},
        settings_{std::move(n_modes), tolerance, real, centered, std::move(period), oversampling, std::move(method)},
        plan_(cpu_backend().make_transform(where_, wide_, settings_)) {}

  void set_points(nb::handle points) {
    const origin_of_arrays where = origin_of(points, "points");
    const auto dimension = static_cast<int>(settings_.modes.size());
    given_array array =
        points_from(points, where, dimension, "points", wide_ ? number::float64 : number::float32, dimension);
    const turn mine(mutex_);
    placed_ = false;
    if (where.device != where_.device) {
      place there = where_;
      there.device = where.device;
      plan_ = made_by(where, [&](backend& engine) { return engine.make_transform(there, wide_, settings_); });
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
  [[nodiscard]] nb::object type_1(nb::handle values, int sign) {
    const turn mine(mutex_);
    return run(values, "values", by_point(), stored(), settings_.real, false, sign, &transform::type_1);
  }
  [[nodiscard]] nb::object type_2(nb::handle modes, int sign) {
    const turn mine(mutex_);
    return run(modes, "modes", stored(), by_point(), false, settings_.real, sign, &transform::type_2);
  }
  [[nodiscard]] nb::tuple shape() const {
    nb::list extents;
    for (const std::size_t extent : stored()) extents.append(extent);
    return nb::tuple(extents);
  }
  [[nodiscard]] double error_bound() {
    const turn mine(mutex_);
    return plan_->error_bound();
  }

 private:
  using call = void (transform::*)(const void*, int, int, void*);

  [[nodiscard]] std::vector<std::size_t> stored() const {
    std::vector<std::size_t> extents(settings_.modes.begin(), settings_.modes.end());
    if (settings_.real) extents.back() = extents.back() / 2 + 1;
    return extents;
  }
  [[nodiscard]] std::vector<std::size_t> by_point() const {
    if (!placed_) throw nb::value_error("there are no points yet, or the last were refused; call set_points");
    return {plan_->points()};
  }
  [[nodiscard]] number type(bool real) const {
    if (real) return wide_ ? number::float64 : number::float32;
    return wide_ ? number::complex128 : number::complex64;
  }
  [[nodiscard]] nb::object run(nb::handle value, const char* name, const std::vector<std::size_t>& from,
                               const std::vector<std::size_t>& to, bool from_real, bool to_real, int sign,
                               call operation) {
    origin_of_arrays where = origin_of(value, name);
    where.device = where_.device;
    given_values values = values_from(value, name, from, wide_, where);
    if (from_real && is_complex(values.array.type())) {
      throw nb::type_error(message(name, " are complex; this plan is for real ones").c_str());
    }
    values.array.convert(type(from_real));
    values.array.receive(*plan_);
    results made(where, where.engine());
    void* const memory = made.add(type(to_real), shape_of(values, to));
    made.prepare(*plan_);
    unlocked([&] { (plan_.get()->*operation)(values.array.data(), values.vectors, sign, memory); });
    return made.take(0);
  }

  bool wide_;
  place where_;
  transform_settings settings_;
  std::mutex mutex_;
  std::unique_ptr<transform> plan_;
  bool placed_ = false;  // it has points
};

[[nodiscard]] nb::object type_3(nb::handle points, nb::handle values, nb::handle targets, double tolerance, int sign,
                                int level, int threads) {
  const origin_of_arrays where = origin_of(points, "points");
  given_array array = points_from(points, where, 1);
  const auto dimension = static_cast<int>(array.shape()[1]);
  given_array at = points_from(targets, where, 1, "targets", array.type(), dimension);
  const bool wide = is_wide(array.type());
  given_values given = values_from(values, "values", {array.shape()[0]}, wide, where);
  given.array.convert(wide ? number::complex128 : number::complex64);
  const std::unique_ptr<session> worker = made_by(where, [&](backend& engine) {
    return engine.make_session({where.device, threads, static_cast<determinism>(level)});
  });
  array.receive(*worker);
  at.receive(*worker);
  given.array.receive(*worker);
  origin_of_arrays owner = origin_of(values, "values");
  owner.device = where.device;
  results made(owner, where.engine());
  void* const memory = made.add(given.array.type(), shape_of(given, {at.shape()[0]}));
  made.prepare(*worker);
  unlocked([&] {
    worker->type_3(wide, dimension, array.points(), at.points(), given.array.data(), given.vectors, tolerance, sign,
                   memory);
  });
  return made.take(0);
}

}  // namespace

void add_transforms(nb::module_& module) {
  nb::class_<transform_plan>(module, "TransformPlan")
      .def(nb::init<std::vector<int>, double, bool, bool, std::vector<double>, double, std::string, int, int, bool>(),
           nb::arg("n_modes"), nb::arg("tolerance"), nb::arg("real"), nb::arg("centered"), nb::arg("period"),
           nb::arg("oversampling"), nb::arg("method"), nb::arg("level"), nb::arg("threads"), nb::arg("wide"))
      .def("set_points", &transform_plan::set_points, nb::arg("points").none())
      .def("check", &transform_plan::check)
      .def("type_1", &transform_plan::type_1, nb::arg("values").none(), nb::arg("sign"))
      .def("type_2", &transform_plan::type_2, nb::arg("modes").none(), nb::arg("sign"))
      .def("shape", &transform_plan::shape)
      .def("error_bound", &transform_plan::error_bound);
  module.def("type_3", &type_3, nb::arg("points").none(), nb::arg("values").none(), nb::arg("targets").none(),
             nb::arg("tolerance"), nb::arg("sign"), nb::arg("level"), nb::arg("threads"));
}

}  // namespace quadrat::python
