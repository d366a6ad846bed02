// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <string>

#include "arrays.hpp"
#include "fields.hpp"
#include "modules.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::python {

namespace {

/// Of a transform between points and modes.
struct transform_settings {
  std::vector<int> n_modes;
  double tolerance;
  bool real, centered;
  std::vector<double> period;
  double oversampling;
  std::string method;
  bool wide;

  [[nodiscard]] quadrat_nufft_options options() const {
    auto result = sized<quadrat_nufft_options>();
    result.type = wide ? QUADRAT_FLOAT64 : QUADRAT_FLOAT32;
    result.dimension = static_cast<int>(n_modes.size());
    std::copy(n_modes.begin(), n_modes.end(), result.modes);
    result.tolerance = tolerance;
    result.real = real ? 1 : 0;
    result.fft_order = centered ? 0 : 1;
    std::copy(period.begin(), period.end(), result.period);
    result.oversampling = oversampling;
    result.method = method.c_str();
    return result;
  }
};

/// Types 1 and 2, on the device of the last points.
class transform_plan {
 public:
  transform_plan(const std::vector<int>& n_modes, double tolerance, bool real, bool centered,
                 const std::vector<double>& period, double oversampling, std::string method, int level, int threads,
                 bool wide)
      : settings_{n_modes, tolerance, real, centered, period, oversampling, std::move(method), wide},
        where_{.threads = threads, .level = level} {
    plan_ = std::make_unique<nufft_handle>(where_, &options_);
  }
  transform_plan(const transform_plan&) = delete;
  transform_plan& operator=(const transform_plan&) = delete;

  void set_points(nb::handle points) {
    const origin_of_arrays where = origin_of(points, "points");
    const int dimension = options_.dimension;
    given_array array = points_from(points, where, dimension, "points", type(true), dimension);
    const turn mine(mutex_);
    points_.reset();
    if (where.device != where_.device) {
      const place there = where.at(where_.threads, where_.level);
      plan_ = made_at<nufft_handle>(there, &options_);
      where_ = there;
    }
    array.receive(*plan_);
    const quadrat_points given = array.points();
    const quadrat_integers* const one_system = nullptr;
    unlocked([&] {
      python::set_points(*plan_, &c_functions::nufft_plan_set_points, &c_functions::nufft_plan_set_points_async, &given,
                         one_system);
    });
    points_ = given.count;
    owner_ = where;
  }
  void check() {
    const turn mine(mutex_);
    if (points_) unlocked([&] { plan_->call(&c_functions::nufft_plan_check); });
  }
  [[nodiscard]] nb::object type_1(nb::handle values, int sign) {
    const turn mine(mutex_);
    return run(values, "values", by_point(), stored(), real(), false, sign, &c_functions::nufft_plan_type_1_async);
  }
  [[nodiscard]] nb::object type_2(nb::handle modes, int sign) {
    const turn mine(mutex_);
    return run(modes, "modes", stored(), by_point(), false, real(), sign, &c_functions::nufft_plan_type_2_async);
  }
  /// In the library of the points.
  [[nodiscard]] nb::object density_weights(int iterations, double tolerance) {
    const turn mine(mutex_);
    results made(owner_);
    void* const memory = made.add(type(true), by_point());
    made.prepare(*plan_);
    unlocked([&] { plan_->call(&c_functions::nufft_plan_density_weights, memory, iterations, meant(tolerance)); });
    return made.take(0);
  }
  [[nodiscard]] nb::tuple shape() const {
    nb::list extents;
    for (const std::size_t extent : stored()) extents.append(extent);
    return nb::tuple(extents);
  }
  [[nodiscard]] double error_bound() {
    const turn mine(mutex_);
    double bound = 0;
    plan_->call(&c_functions::nufft_plan_error_bound, &bound);
    return bound;
  }

 private:
  using call = decltype(&c_functions::nufft_plan_type_1_async);

  [[nodiscard]] bool wide() const { return options_.type == QUADRAT_FLOAT64; }
  [[nodiscard]] bool real() const { return options_.real != 0; }
  [[nodiscard]] std::vector<std::size_t> stored() const {
    std::vector<std::size_t> extents(options_.modes, options_.modes + options_.dimension);
    if (real()) extents.back() = extents.back() / 2 + 1;
    return extents;
  }
  [[nodiscard]] std::vector<std::size_t> by_point() const {
    if (!points_) throw nb::value_error("there are no points yet, or the last were refused; call set_points");
    return {*points_};
  }
  [[nodiscard]] number type(bool real) const {
    if (real) return wide() ? number::float64 : number::float32;
    return wide() ? number::complex128 : number::complex64;
  }
  [[nodiscard]] nb::object run(nb::handle value, const char* name, const std::vector<std::size_t>& from,
                               const std::vector<std::size_t>& to, bool from_real, bool to_real, int sign,
                               call operation) {
    origin_of_arrays where = origin_of(value, name);
    where.device = where_.device;
    given_values values = values_from(value, name, from, wide(), where);
    if (from_real && is_complex(values.array.type())) {
      throw nb::type_error(message(name, " are complex; this plan is for real ones").c_str());
    }
    values.array.convert(type(from_real));
    values.array.receive(*plan_);
    results made(where);
    void* const memory = made.add(type(to_real), shape_of(values, to));
    made.prepare(*plan_);
    const quadrat_nufft_call how{sizeof(how), values.vectors, sign};
    unlocked([&] {
      plan_->call(operation, values.array.data(), memory, &how);
      plan_->finish();
    });
    return made.take(0);
  }

  const transform_settings settings_;
  place where_;
  const quadrat_nufft_options options_ = settings_.options();
  std::mutex mutex_;
  std::unique_ptr<nufft_handle> plan_;
  std::optional<std::size_t> points_;
  origin_of_arrays owner_;
};

/// The normal operator of a transform, on the device of the last points.
class normal_plan {
 public:
  normal_plan(const std::vector<int>& n_modes, double tolerance, bool centered, const std::vector<double>& period,
              double oversampling, std::string method, int level, int threads, bool wide)
      : settings_{n_modes, tolerance, false, centered, period, oversampling, std::move(method), wide},
        where_{.threads = threads, .level = level},
        normal_(std::make_unique<normal_handle>(where_, &options_)) {}
  normal_plan(const normal_plan&) = delete;
  normal_plan& operator=(const normal_plan&) = delete;

  void set_points(nb::handle points, nb::handle weights) {
    const origin_of_arrays where = origin_of(points, "points");
    const int dimension = options_.dimension;
    const number type = settings_.wide ? number::float64 : number::float32;
    given_array array = points_from(points, where, dimension, "points", type, dimension);
    const std::size_t count = array.shape()[0];
    std::optional<given_array> factors;
    if (!weights.is_none()) {
      factors.emplace(floats(weights, "weights", where, type));
      if (factors->shape() != std::vector<std::size_t>{count}) {
        throw nb::value_error(message("weights have the shape ", shape_text(factors->shape()), "; one for each of the ",
                                      count, " points is needed")
                                  .c_str());
      }
    }
    const turn mine(mutex_);
    ready_ = false;
    if (where.device != where_.device) {
      const place there = where.at(where_.threads, where_.level);
      normal_ = made_at<normal_handle>(there, &options_);
      where_ = there;
    }
    array.receive(*normal_);
    if (factors) factors->receive(*normal_);
    const quadrat_points given = array.points();
    unlocked(
        [&] { normal_->call(&c_functions::normal_operator_set_points, &given, factors ? factors->data() : nullptr); });
    ready_ = true;
  }
  [[nodiscard]] nb::object apply(nb::handle modes, int sign) {
    const turn mine(mutex_);
    if (!ready_) throw nb::value_error("there are no points yet, or the last were refused; call set_points");
    origin_of_arrays where = origin_of(modes, "modes");
    where.device = where_.device;
    const std::vector<std::size_t> each(settings_.n_modes.begin(), settings_.n_modes.end());
    given_values given = values_from(modes, "modes", each, settings_.wide, where);
    given.array.convert(settings_.wide ? number::complex128 : number::complex64);
    given.array.receive(*normal_);
    results made(where);
    void* const memory = made.add(given.array.type(), shape_of(given, each));
    made.prepare(*normal_);
    const quadrat_nufft_call how{sizeof(how), given.vectors, sign};
    unlocked([&] { normal_->call(&c_functions::normal_operator_apply, given.array.data(), memory, &how); });
    return made.take(0);
  }
  [[nodiscard]] double error_bound() {
    const turn mine(mutex_);
    double bound = 0;
    normal_->call(&c_functions::normal_operator_error_bound, &bound);
    return bound;
  }

 private:
  const transform_settings settings_;
  place where_;
  const quadrat_nufft_options options_ = settings_.options();
  std::mutex mutex_;
  std::unique_ptr<normal_handle> normal_;
  bool ready_ = false;
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
  auto options = sized<quadrat_nufft_target_options>();
  options.type = c_type(array.type());
  options.dimension = dimension;
  options.tolerance = tolerance;
  const std::unique_ptr<target_handle> plan = made_at<target_handle>(where.at(threads, level), &options);
  array.receive(*plan);
  at.receive(*plan);
  given.array.receive(*plan);
  origin_of_arrays owner = origin_of(values, "values");
  owner.device = where.device;
  results made(owner);
  void* const memory = made.add(given.array.type(), shape_of(given, {at.shape()[0]}));
  made.prepare(*plan);
  const quadrat_points points_given = array.points(), targets_given = at.points();
  const quadrat_nufft_call how{sizeof(how), given.vectors, sign};
  unlocked([&] {
    plan->call(&c_functions::nufft_target_plan_set_points, &points_given, &targets_given);
    plan->call(&c_functions::nufft_target_plan_type_3, given.array.data(), memory, &how);
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
      .def("density_weights", &transform_plan::density_weights, nb::arg("iterations"), nb::arg("tolerance"))
      .def("shape", &transform_plan::shape)
      .def("error_bound", &transform_plan::error_bound);
  nb::class_<normal_plan>(module, "NormalPlan")
      .def(nb::init<std::vector<int>, double, bool, std::vector<double>, double, std::string, int, int, bool>(),
           nb::arg("n_modes"), nb::arg("tolerance"), nb::arg("centered"), nb::arg("period"), nb::arg("oversampling"),
           nb::arg("method"), nb::arg("level"), nb::arg("threads"), nb::arg("wide"))
      .def("set_points", &normal_plan::set_points, nb::arg("points").none(), nb::arg("weights").none())
      .def("apply", &normal_plan::apply, nb::arg("modes").none(), nb::arg("sign"))
      .def("error_bound", &normal_plan::error_bound);
  module.def("type_3", &type_3, nb::arg("points").none(), nb::arg("values").none(), nb::arg("targets").none(),
             nb::arg("tolerance"), nb::arg("sign"), nb::arg("level"), nb::arg("threads"));
}

}  // namespace quadrat::python
