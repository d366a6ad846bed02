// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/stl/array.h>
#include <nanobind/stl/complex.h>
#include <nanobind/stl/string.h>

#include <array>
#include <complex>
#include <optional>
#include <string>
#include <type_traits>

#include "arrays.hpp"
#include "modules.hpp"
#include "quadrat/mesh/spread_plan.hpp"

namespace quadrat::python {

namespace {

/// Arrays of several vectors: values (V, N), meshes (V, K...). The Python part adds and removes the first axis.
template <typename T, int D>
class spreading {
 public:
  using plan = spread_plan<cpu_context, T, D>;

  spreading(const std::array<double, D>& lower, const std::array<double, D>& length,
            const std::array<bool, D>& periodic, const std::array<int, D>& mesh, int order, bool clip, bool accept,
            double uses, const std::string& method, bool run_to_run, int threads)
      : context_(context_with(threads, run_to_run)), mesh_(mesh) {
    box<T, D> domain{};
    vec<int, D> extents{};
    spread_options options;
    for (int axis = 0; axis < D; ++axis) {
      const auto a = static_cast<std::size_t>(axis);
      domain.lower[axis] = static_cast<T>(lower[a]);
      domain.length[axis] = static_cast<T>(length[a]);
      domain.periodic[axis] = periodic[a];
      options.exact_lengths[axis] = length[a];
      extents[axis] = mesh[a];
    }
    options.method = method;
    options.uses = uses;
    if (clip) options.edges = open_footprints::clip;
    if (accept) options.beyond = points_beyond::accept;
    plan_.emplace(context_, domain, extents, order, options);
  }

  void set_points(const points_in<T, D>& points) {
    const nb::gil_scoped_release unlocked;
    plan_->set_points(view_of<T, D>(points));
  }
  template <typename V>
  [[nodiscard]] nb::object spread(const array_in<V>& values) {
    return run<V>(values, extents(),
                  [&](V* result, const mesh_call& call) { plan_->spread(values.data(), result, call); });
  }
  template <typename V>
  [[nodiscard]] nb::object interpolate(const array_in<V>& mesh) {
    return run<V>(mesh, {plan_->point_count()},
                  [&](V* result, const mesh_call& call) { plan_->interpolate(mesh.data(), result, call); });
  }
  template <typename V>
  [[nodiscard]] nb::object gradient(const array_in<V>& mesh) {
    return run<V>(mesh, {plan_->point_count(), static_cast<std::size_t>(D)},
                  [&](V* result, const mesh_call& call) { plan_->interpolate_gradient(mesh.data(), result, call); });
  }
  [[nodiscard]] std::size_t points() const { return plan_->point_count(); }
  [[nodiscard]] std::string method() const { return std::string(plan_->method()); }

 private:
  [[nodiscard]] std::vector<std::size_t> extents() const { return {mesh_.begin(), mesh_.end()}; }

  template <typename V, typename Call>
  [[nodiscard]] nb::object run(const array_in<V>& input, const std::vector<std::size_t>& each, const Call& call) {
    std::vector<std::size_t> shape{input.shape(0)};
    shape.insert(shape.end(), each.begin(), each.end());
    std::optional<new_array<V>> result;
    {
      const nb::gil_scoped_release unlocked;
      result.emplace(std::move(shape));
      call(result->data(), mesh_call{static_cast<int>(input.shape(0)), false});
    }
    return result->release();
  }

  cpu_context context_;
  std::array<int, D> mesh_;
  std::optional<plan> plan_;
};

template <typename T, int D>
void add_instance(nb::module_& module, const std::string& suffix) {
  using s = spreading<T, D>;
  using c = std::complex<T>;
  nb::class_<s>(module, ("Spreading" + suffix).c_str())
      .def(nb::init<const std::array<double, D>&, const std::array<double, D>&, const std::array<bool, D>&,
                    const std::array<int, D>&, int, bool, bool, double, const std::string&, bool, int>())
      .def("set_points", &s::set_points)
      .def("spread", &s::template spread<T>)
      .def("spread", &s::template spread<c>)
      .def("interpolate", &s::template interpolate<T>)
      .def("interpolate", &s::template interpolate<c>)
      .def("gradient", &s::template gradient<T>)
      .def("gradient", &s::template gradient<c>)
      .def("points", &s::points)
      .def("method", &s::method);
}

}  // namespace

void add_mesh(nb::module_& module) {
  add_instance<float, 1>(module, "_float32_1");
  add_instance<float, 2>(module, "_float32_2");
  add_instance<float, 3>(module, "_float32_3");
  add_instance<double, 1>(module, "_float64_1");
  add_instance<double, 2>(module, "_float64_2");
  add_instance<double, 3>(module, "_float64_3");
}

}  // namespace quadrat::python
