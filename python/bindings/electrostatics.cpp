// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/stl/string.h>

#include <cmath>
#include <memory>
#include <string>
#include <tuple>

#include "arrays.hpp"
#include "boxes.hpp"
#include "modules.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::python {

namespace {

/// Pairs (P, 2) on the host, with their scales (P,); by default 0.
[[nodiscard]] std::vector<quadrat_scaled_pair> pairs_from(nb::handle pairs, nb::handle scales, std::size_t points) {
  if (pairs.is_none()) {
    if (!scales.is_none()) throw nb::value_error("scales are given without scaled_pairs");
    return {};
  }
  const host_numbers given = numbers_from(pairs, "scaled_pairs");
  const bool empty = given.values.empty();
  bool whole = true;
  for (const double value : given.values) whole = whole && value == std::floor(value);
  if (!whole || (!empty && (given.shape.size() != 2 || given.shape[1] != 2))) {
    throw nb::value_error(message("scaled_pairs have the shape ", shape_text(given.shape),
                                  whole ? "" : " and values that are no integers", "; (P, 2) integers are needed")
                              .c_str());
  }
  const std::size_t count = given.values.size() / 2;
  host_numbers factors{std::vector<double>(count, 0.0), {count}};
  if (!scales.is_none()) factors = numbers_from(scales, "scales");
  if (factors.shape != std::vector<std::size_t>{count}) {
    throw nb::value_error(message("scales have the shape ", shape_text(factors.shape), "; one for each of the ", count,
                                  " pairs is needed")
                              .c_str());
  }
  std::vector<quadrat_scaled_pair> result;
  for (std::size_t p = 0; p < count; ++p) {
    const double a = given.values[2 * p], b = given.values[2 * p + 1];
    const auto last = static_cast<double>(points);
    if (a < 0 || b < 0 || a >= last || b >= last) {
      throw nb::value_error(
          message("scaled_pairs[", p, "] is (", a, ", ", b, "); there are ", points, " points").c_str());
    }
    result.push_back({static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b), factors.values[p]});
  }
  return result;
}

/// Sums on the device of the last points; those of other precisions and devices are kept.
class charges_sums {
 public:
  charges_sums(double accuracy, bool dispersion, std::string method, double constant, bool remove_net_force, int level,
               int threads)
      : method_(std::move(method)), level_(level), threads_(threads) {
    options_.law = dispersion ? QUADRAT_DISPERSION : QUADRAT_COULOMB;
    options_.method = method_.c_str();
    options_.accuracy = meant(accuracy);
    options_.coulomb_constant = meant(constant);
    options_.remove_net_force = remove_net_force ? 1 : 0;
  }
  charges_sums(const charges_sums&) = delete;
  charges_sums& operator=(const charges_sums&) = delete;

  /// Energy, forces, potentials, virial; None for what is not wanted.
  [[nodiscard]] nb::tuple compute(nb::handle points, nb::handle charges, nb::handle cell, nb::handle periodic,
                                  nb::handle systems, nb::handle pairs, nb::handle scales, bool forces, bool potentials,
                                  bool virial) {
    const origin_of_arrays where = origin_of(points, "points");
    given_array array = points_from(points, where, 3);
    const std::size_t count = array.shape()[0];
    given_array given = floats(charges, "charges", where, array.type());
    if (given.shape() != std::vector<std::size_t>{count}) {
      throw nb::value_error(message("charges have the shape ", shape_text(given.shape()), "; one for each of the ",
                                    count, " points is needed")
                                .c_str());
    }
    std::optional<given_array> numbers = indices_from(systems, "systems", count, where);
    const boxes_given cells =
        boxes_from(cell, 3, periodic, nb::none(), systems_of(numbers, cell, 3, where, threads_), extents::of_all_axes);
    const std::vector<quadrat_scaled_pair> scaled = pairs_from(pairs, scales, count);
    const turn mine(mutex_);
    sums_ = nullptr;
    ewald_handle& sums = sums_for(where, c_type(array.type()));
    array.receive(sums);
    given.receive(sums);
    if (numbers) numbers->receive(sums);

    results made(where);
    auto to = sized<quadrat_ewald_output>();
    to.energy = static_cast<double*>(made.add(number::float64, {cells.count}));
    if (forces) to.forces = made.add(array.type(), {count, 3});
    if (potentials) to.potentials = made.add(array.type(), {count});
    if (virial) {
      const std::vector<std::size_t> one{3, 3}, all{cells.count, 3, 3};
      to.virial = static_cast<double*>(made.add(number::float64, numbers ? all : one));
    }
    made.prepare(sums);
    auto input = sized<quadrat_ewald_input>();
    input.points = array.points();
    input.charges = given.data();
    input.cells = cells.view();
    input.system_of_point = of(numbers);
    input.scaled_pairs = scaled.data();
    input.scaled_pair_count = scaled.size();
    unlocked([&] { sums.call(&c_functions::electrostatics_compute, &input, &to); });
    sums_ = &sums;

    std::size_t next = 1;
    const auto taken = [&](bool wanted) { return wanted ? made.take(next++) : nb::object(nb::none()); };
    nb::object force = taken(forces), potential = taken(potentials), stress = taken(virial);
    return nb::make_tuple(numbers ? made.take(0) : energy_of_one(where, to.energy), force, potential, stress);
  }

  [[nodiscard]] nb::dict report() {
    const turn mine(mutex_);
    if (sums_ == nullptr) throw nb::value_error("nothing has been computed yet");
    const auto chosen = sums_->get(&c_functions::electrostatics_info);
    const auto found = sums_->get(&c_functions::electrostatics_report);
    nb::dict result;
    result["method"] = chosen.method;
    result["reason"] = chosen.reason;
    result["cutoff"] = found.cutoff;
    result["splitting"] = found.splitting;
    result["mesh"] = nb::make_tuple(found.mesh[0], found.mesh[1], found.mesh[2]);
    result["order"] = found.order;
    result["error"] = found.error;
    result["energy_error"] = found.energy_error;
    result["virial_error"] = found.virial_error;
    return result;
  }

 private:
  [[nodiscard]] ewald_handle& sums_for(const origin_of_arrays& where, int type) {
    for (const auto& [device, precision, sums] : kept_) {
      if (device == where.device && precision == type) return *sums;
    }
    options_.type = type;
    kept_.emplace_back(where.device, type, made_at<ewald_handle>(where.at(threads_, level_), &options_));
    return *std::get<2>(kept_.back());
  }
  /// As a number.
  [[nodiscard]] nb::object energy_of_one(const origin_of_arrays& where, const void* energy) const {
    double value = 0;
    if (where.on_gpu()) {
      const std::unique_ptr<worker> reader = made_at<worker>(where.at(1));
      unlocked([&] { reader->on_context(&c_functions::copy, energy, &value, sizeof(value)); });
    } else {
      value = *static_cast<const double*>(energy);
    }
    return nb::float_(value);
  }

  std::string method_;
  quadrat_ewald_options options_ = sized<quadrat_ewald_options>();
  int level_;
  int threads_;
  std::mutex mutex_;
  std::vector<std::tuple<int, int, std::unique_ptr<ewald_handle>>> kept_;
  ewald_handle* sums_ = nullptr;  ///< of the last call
};

}  // namespace

void add_electrostatics(nb::module_& module) {
  nb::class_<charges_sums>(module, "EwaldSums")
      .def(nb::init<double, bool, std::string, double, bool, int, int>())
      .def("compute", &charges_sums::compute, nb::arg("points").none(), nb::arg("charges").none(),
           nb::arg("cell").none(), nb::arg("periodic").none(), nb::arg("systems").none(), nb::arg("pairs").none(),
           nb::arg("scales").none(), nb::arg("forces"), nb::arg("potentials"), nb::arg("virial"))
      .def("report", &charges_sums::report);
}

}  // namespace quadrat::python
