// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/stl/array.h>
#include <nanobind/stl/complex.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <complex>
#include <optional>
#include <string>

#include "arrays.hpp"
#include "modules.hpp"
#include "quadrat/spectral/nufft_plan.hpp"
#include "quadrat/spectral/nufft_target_plan.hpp"

namespace quadrat::python {

namespace {

/// Types 1 and 2. Values are (V, N), modes (V, K...).
template <typename T, int D>
class transform {
 public:
  using complex = std::complex<T>;

  transform(const std::array<int, D>& modes, double tolerance, bool real, bool centered,
            const std::array<double, D>& period, double oversampling, const std::string& method, bool run_to_run,
            int threads)
      : modes_(modes), real_(real) {
    nufft_options options;
    options.values = real ? nufft_values::real : nufft_values::complex;
    options.order = centered ? mode_order::centered : mode_order::fft;
    options.oversampling = oversampling;
    options.method = method;
    vec<int, D> numbers{};
    for (int axis = 0; axis < D; ++axis) {
      const auto a = static_cast<std::size_t>(axis);
      numbers[axis] = modes[a];
      options.period[axis] = period[a];
    }
    plan_.emplace(context_with(threads, run_to_run), numbers, tolerance, options);
  }

  void set_points(const points_in<T, D>& points) {
    const nb::gil_scoped_release unlocked;
    plan_->set_points(view_of<T, D>(points));
  }
  template <typename V>
  [[nodiscard]] nb::object type_1(const array_in<V>& values, int sign) {
    return run<complex>(stored(), values.shape(0), sign,
                        [&](complex* modes, const nufft_call& call) { plan_->type_1(values.data(), modes, call); });
  }
  [[nodiscard]] nb::object type_2(const array_in<complex>& modes, int sign) {
    const std::vector<std::size_t> each{plan_->point_count()};
    if (real_) {
      return run<T>(each, modes.shape(0), sign,
                    [&](T* values, const nufft_call& call) { plan_->type_2(modes.data(), values, call); });
    }
    return run<complex>(each, modes.shape(0), sign,
                        [&](complex* values, const nufft_call& call) { plan_->type_2(modes.data(), values, call); });
  }
  [[nodiscard]] std::size_t points() const { return plan_->point_count(); }
  [[nodiscard]] nb::tuple shape() const { return nb::tuple(nb::cast(stored())); }
  [[nodiscard]] double error_bound() const { return plan_->error_bound(); }

 private:
  [[nodiscard]] std::vector<std::size_t> stored() const {
    std::vector<std::size_t> extents(modes_.begin(), modes_.end());
    if (real_) extents.back() = extents.back() / 2 + 1;
    return extents;
  }
  template <typename V, typename Call>
  [[nodiscard]] nb::object run(const std::vector<std::size_t>& each, std::size_t vectors, int sign, const Call& call) {
    std::vector<std::size_t> shape{vectors};
    shape.insert(shape.end(), each.begin(), each.end());
    std::optional<new_array<V>> result;
    {
      const nb::gil_scoped_release unlocked;
      result.emplace(std::move(shape));
      call(result->data(), nufft_call{static_cast<int>(vectors), sign});
    }
    return result->release();
  }

  std::array<int, D> modes_;
  bool real_;
  std::optional<nufft_plan<cpu_context, T, D>> plan_;
};

template <typename T, int D>
nb::object type_3(const points_in<T, D>& points, const array_in<std::complex<T>>& values,
                  const points_in<T, D>& targets, double tolerance, int sign, int threads) {
  std::optional<new_array<std::complex<T>>> result;
  {
    const nb::gil_scoped_release unlocked;
    nufft_target_plan<cpu_context, T, D> plan(context_with(threads), tolerance);
    plan.set_points(view_of<T, D>(points), view_of<T, D>(targets));
    result.emplace(std::vector<std::size_t>{values.shape(0), targets.shape(0)});
    plan.type_3(values.data(), result->data(), {static_cast<int>(values.shape(0)), sign});
  }
  return result->release();
}

template <typename T, int D>
void add_instance_of(nb::module_& module, const std::string& suffix) {
  using t = transform<T, D>;
  nb::class_<t>(module, ("Transform" + suffix).c_str())
      .def(nb::init<const std::array<int, D>&, double, bool, bool, const std::array<double, D>&, double,
                    const std::string&, bool, int>())
      .def("set_points", &t::set_points)
      .def("type_1", &t::template type_1<T>)
      .def("type_1", &t::template type_1<std::complex<T>>)
      .def("type_2", &t::type_2)
      .def("points", &t::points)
      .def("shape", &t::shape)
      .def("error_bound", &t::error_bound);
  module.def(("type_3" + suffix).c_str(), &type_3<T, D>);
}

}  // namespace

void add_transforms(nb::module_& module) {
  add_instance_of<float, 1>(module, "_float32_1");
  add_instance_of<float, 2>(module, "_float32_2");
  add_instance_of<float, 3>(module, "_float32_3");
  add_instance_of<double, 1>(module, "_float64_1");
  add_instance_of<double, 2>(module, "_float64_2");
  add_instance_of<double, 3>(module, "_float64_3");
}

}  // namespace quadrat::python
