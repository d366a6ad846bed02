// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/srd/kernels.hpp"
#include "models/srd/storage.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/reduce.hpp"
#include "quadrat/parallel/workspace.hpp"

/// Measurements, in fixed point and double precision, so that they do not depend on the order of slots. The fastest
/// particle sets the scale.
namespace quadrat::detail {

/// The largest component of a particle's velocity.
template <typename T, int D>
struct srd_largest_component {
  srd_present<T, D> present;

  QUADRAT_HD double operator()(std::size_t slot) const {
    const vec<T, D> velocity = present.velocity(slot, present.slots.position_of(slot));
    double largest = 0;
    for (int axis = 0; axis < D; ++axis) {
      const double size = std::fabs(static_cast<double>(velocity[axis]));
      if (size > largest) largest = size;
    }
    return largest;
  }
};

/// The largest component over the first `count` slots; 1 if all particles are at rest. Waits.
template <typename Context, typename T, int D>
[[nodiscard]] double srd_fastest(const Context& context, srd_storage<Context, T, D>& storage, std::size_t count,
                                 workspace<Context>& scratch) {
  const double largest = reduce(context, "srd.fastest", count, srd_largest_component<T, D>{storage.present()},
                                maximum_operation{}, 0.0, scratch);
  return largest > 0 ? largest : 1;
}

/// Adds particles to the cells of the unshifted grid.
template <typename T, int D>
struct srd_measure_cells {
  srd_present<T, D> present;
  srd_fixed_sums<double, D> sums;

  QUADRAT_HD void operator()(std::size_t slot) const {
    const vec<T, D> position = present.slots.position_of(slot);
    sums.add(present.setup.home_cell(position), cast<double>(present.velocity(slot, position)),
             static_cast<double>(present.slots.mass_of(present.setup, slot)));
  }
};

/// Sums over cells; masses in units of the mass of a fluid particle.
template <int D>
struct srd_totals {
  double energy = 0;
  vec<double, D> momentum{};
  double relative_energy = 0;  ///< of cells with two particles or more
  double freedom = 0;          ///< degrees of freedom of relative_energy

  friend QUADRAT_HD srd_totals operator+(const srd_totals& a, const srd_totals& b) {
    srd_totals sum;
    sum.energy = a.energy + b.energy;
    sum.momentum = a.momentum + b.momentum;
    sum.relative_energy = a.relative_energy + b.relative_energy;
    sum.freedom = a.freedom + b.freedom;
    return sum;
  }
};

template <int D>
struct srd_sum_cells {
  srd_fixed_sums<double, D> sums;

  QUADRAT_HD srd_totals<D> operator()(std::size_t cell) const {
    const srd_cell<double, D> found = sums.read(static_cast<cell_id>(cell));
    sums.reset(static_cast<cell_id>(cell));
    srd_totals<D> totals;
    totals.energy = found.energy;
    totals.momentum = found.momentum;
    if (found.count < 2) return totals;
    const double relative = found.energy - squared_norm(found.momentum) / (2 * found.mass);
    totals.relative_energy = relative > 0 ? relative : 0;
    totals.freedom = D * (found.count - 1);
    return totals;
  }
};

/// Adds particles to the slices of a profile. Each slice has several copies, so that few threads add to the same one
/// concurrently.
template <typename T, int D>
struct srd_measure_slices {
  static constexpr std::size_t places = 64;

  srd_present<T, D> present;
  srd_fixed_sums<double, D> sums;
  int axis;
  int bins;

  QUADRAT_HD void operator()(std::size_t slot) const {
    const srd_setup<T, D>& setup = present.setup;
    const vec<T, D> position = present.slots.position_of(slot);
    const double part = static_cast<double>(position[axis]) / static_cast<double>(setup.size[axis]);
    const int index = static_cast<int>(part * bins);
    const auto bin = static_cast<std::size_t>(index < bins ? index : bins - 1);
    sums.add(static_cast<cell_id>(bin * places + slot % places), cast<double>(present.velocity(slot, position)),
             static_cast<double>(present.slots.mass_of(setup, slot)));
  }
};

template <int D>
struct srd_slice {
  vec<double, D> momentum;
  double mass;
  double count;
};

template <int D>
struct srd_sum_slices {
  srd_fixed_sums<double, D> sums;
  std::size_t places;
  srd_slice<D>* slices;

  QUADRAT_HD void operator()(std::size_t bin) const {
    // Sums of integers, so it does not matter which copy a particle is added to.
    std::int64_t* const total = sums.values + bin * places * sums.words;
    for (std::size_t place = 1; place < places; ++place) {
      for (std::size_t word = 0; word < sums.words; ++word) total[word] += total[place * sums.words + word];
    }
    const srd_cell<double, D> found = sums.read(static_cast<cell_id>(bin * places));
    sums.reset(static_cast<cell_id>(bin * places));
    slices[bin] = {found.momentum, found.mass, found.count};
  }
};

/// v_x sin(2 pi y / L) of a fluid particle, in fixed point.
template <typename T, int D>
struct srd_wave_part {
  srd_present<T, D> present;
  double wave_number;
  double scale;

  QUADRAT_HD std::int64_t operator()(std::size_t slot) const {
    const vec<T, D> position = present.slots.position_of(slot);
    const double part = static_cast<double>(present.velocity(slot, position)[0]) *
                        std::sin(wave_number * static_cast<double>(position[1]));
    return static_cast<std::int64_t>(part * scale);
  }
};

/// Zeroed sums for `parts` parts of the box, each with room for every particle of the run.
template <typename Context, typename T, int D>
class srd_meter_sums {
 public:
  srd_meter_sums(const Context& context, srd_storage<Context, T, D>& storage, std::size_t parts,
                 workspace<Context>& scratch)
      : memory_(context, parts * srd_fixed_sums<double, D>::words) {
    const std::uint32_t particles = storage.setup().particles;
    const double fastest = srd_fastest(context, storage, particles, scratch);
    sums_ = make_fixed_sums<double>(storage.setup(), storage.heaviest(), particles, {fastest, fastest * fastest});
    fill_bytes(context, memory_.data(), 0, memory_.bytes());
    sums_.values = memory_.data();
    sums_.kinds.energy = true;
    sums_.kinds.racing = srd_racing(context);
  }
  [[nodiscard]] bool empty() const { return memory_.size() == 0; }
  [[nodiscard]] const srd_fixed_sums<double, D>& get() const { return sums_; }

 private:
  array<std::int64_t, Context> memory_;
  srd_fixed_sums<double, D> sums_{};
};

template <typename Context, typename T, int D>
[[nodiscard]] srd_totals<D> measure_srd(const Context& context, srd_storage<Context, T, D>& storage,
                                        workspace<Context>& scratch) {
  std::size_t cells = 1;
  for (int axis = 0; axis < D; ++axis) cells *= static_cast<std::size_t>(storage.setup().cells[axis]);
  const srd_meter_sums<Context, T, D> sums(context, storage, cells, scratch);
  if (sums.empty()) return {};
  for_each(context, "srd.measure", storage.setup().particles, srd_measure_cells<T, D>{storage.present(), sums.get()});
  return reduce_sum(context, "srd.measure", cells, srd_sum_cells<D>{sums.get()}, scratch);
}

template <typename Context, typename T, int D>
[[nodiscard]] std::vector<srd_slice<D>> slice_srd(const Context& context, srd_storage<Context, T, D>& storage, int axis,
                                                  int bins, workspace<Context>& scratch) {
  using body = srd_measure_slices<T, D>;
  const auto number = static_cast<std::size_t>(bins);
  const srd_meter_sums<Context, T, D> sums(context, storage, number * body::places, scratch);
  if (sums.empty()) return {};
  array<srd_slice<D>, Context> slices(context, number);
  for_each(context, "srd.profile", storage.setup().particles, body{storage.present(), sums.get(), axis, bins});
  for_each(context, "srd.profile", number, srd_sum_slices<D>{sums.get(), body::places, slices.data()});
  return to_host(context, slices);
}

}  // namespace quadrat::detail
