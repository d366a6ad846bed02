// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <memory>
#include <string>
#include <tuple>

#include "arrays.hpp"
#include "boxes.hpp"
#include "modules.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::python {

namespace {

/// Edges of a box that has no angles.
[[nodiscard]] std::array<double, 3> edges_from(nb::handle box) {
  const boxes_given given = boxes_from(box, 3, nb::none(), nb::none(), 1, extents::of_all_axes);
  std::array<double, 3> edges{};
  for (std::size_t k = 0; k < 9; ++k) {
    if (k % 4 == 0) {
      edges[k / 4] = given.vectors[k];
    } else if (given.vectors[k] != 0) {
      throw nb::value_error("the box is tilted; the mobility needs an upright one: (3,) lengths");
    }
  }
  return edges;
}

/// Spheres on the device of the last points.
class sphere_mobility {
 public:
  sphere_mobility(double accuracy, double radius, double viscosity, std::string method, int level, int threads)
      : method_(std::move(method)), level_(level), threads_(threads) {
    options_.method = method_.c_str();
    options_.accuracy = meant(accuracy);
    options_.radius = meant(radius);
    options_.viscosity = meant(viscosity);
  }
  sphere_mobility(const sphere_mobility&) = delete;
  sphere_mobility& operator=(const sphere_mobility&) = delete;

  void set_points(nb::handle points, nb::handle box) {
    const origin_of_arrays where = origin_of(points, "points");
    given_array array = points_from(points, where, 3);
    const std::array<double, 3> edges = edges_from(box);
    const turn mine(mutex_);
    ready_ = false;
    const std::tuple kind{where.device, array.type(), edges};
    if (!spheres_ || kind_ != kind) {
      options_.type = c_type(array.type());
      spheres_ = made_at<mobility_handle>(where.at(threads_, level_), edges.data(), &options_);
      kind_ = kind;
      prepared_ = ~std::size_t{0};
    }
    array.receive(*spheres_);
    const quadrat_points given = array.points();
    unlocked([&] {
      if (given.count != prepared_) spheres_->call(&c_functions::mobility_prepare, given.count);
      prepared_ = given.count;
      spheres_->call(&c_functions::mobility_set_points, &given);
    });
    where_ = where;
    ready_ = true;
  }

  [[nodiscard]] nb::object multiply(nb::handle forces) {
    return run(forces, [&](const void* given, void* velocities) {
      spheres_->call(&c_functions::mobility_multiply, given, velocities);
    });
  }
  [[nodiscard]] nb::object velocities(nb::handle forces, std::uint64_t seed, std::uint64_t step, double scale) {
    const quadrat_mobility_noise noise{seed, step, scale};
    return run(forces, [&](const void* given, void* velocities) {
      spheres_->call(&c_functions::mobility_velocities, given, &noise, velocities);
    });
  }
  /// The method, and why it was chosen.
  [[nodiscard]] nb::tuple choice() {
    const turn mine(mutex_);
    require_points();
    const auto info = spheres_->get(&c_functions::mobility_info);
    return nb::make_tuple(info.method, info.reason);
  }

 private:
  void require_points() const {
    if (!ready_) throw nb::value_error("there are no points yet, or the last were refused; call set_points");
  }
  template <typename Call>
  [[nodiscard]] nb::object run(nb::handle forces, const Call& call) {
    const turn mine(mutex_);
    require_points();
    const number type = std::get<1>(kind_);
    std::optional<given_array> given;
    origin_of_arrays where = where_;
    if (!forces.is_none()) {
      where = origin_of(forces, "forces");
      where.device = where_.device;
      given.emplace(floats(forces, "forces", where, type));
      if (given->shape() != std::vector<std::size_t>{prepared_, 3}) {
        throw nb::value_error(
            message("forces have the shape ", shape_text(given->shape()), "; (", prepared_, ", 3) is needed").c_str());
      }
      given->receive(*spheres_);
    }
    results made(where);
    void* const memory = made.add(type, {prepared_, 3});
    made.prepare(*spheres_);
    unlocked([&] {
      call(given ? given->data() : nullptr, memory);
      spheres_->synchronize();
    });
    return made.take(0);
  }

  std::string method_;
  quadrat_mobility_options options_ = sized<quadrat_mobility_options>();
  int level_;
  int threads_;
  std::mutex mutex_;
  std::unique_ptr<mobility_handle> spheres_;
  std::tuple<int, number, std::array<double, 3>> kind_{};  ///< device, precision and box
  origin_of_arrays where_;
  std::size_t prepared_ = 0;  ///< number of spheres for which parameters were chosen
  bool ready_ = false;
};

}  // namespace

void add_mobility(nb::module_& module) {
  nb::class_<sphere_mobility>(module, "SphereMobility")
      .def(nb::init<double, double, double, std::string, int, int>())
      .def("set_points", &sphere_mobility::set_points, nb::arg("points").none(), nb::arg("box").none())
      .def("multiply", &sphere_mobility::multiply, nb::arg("forces"))
      .def("velocities", &sphere_mobility::velocities, nb::arg("forces").none(), nb::arg("seed"), nb::arg("step"),
           nb::arg("scale"))
      .def("choice", &sphere_mobility::choice);
}

}  // namespace quadrat::python
