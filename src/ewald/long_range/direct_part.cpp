// SPDX-License-Identifier: BSD-3-Clause
#include "ewald/long_range/direct_part.hpp"

#include <cmath>

#include "core/backend.hpp"
#include "core/memory_check.hpp"
#include "ewald/system_sums.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/for_each.hpp"

namespace quadrat::detail {

namespace {

/// Cosine and sine of 2 pi times the scalar product of a mode and a fraction.
template <typename T>
[[nodiscard]] QUADRAT_HD vec<T, 2> phase(const vec<int, 3>& mode, const vec<T, 3>& fraction) {
  T turns = T(0);
  for (int axis = 0; axis < 3; ++axis) {
    const T part = static_cast<T>(mode[axis]) * fraction[axis];
    turns += part - std::floor(part);
  }
#if defined(__CUDA_ARCH__)
  // Both at once, without a branch for angles that are too large for a short reduction.
  vec<T, 2> result;
  if constexpr (sizeof(T) == 4) {
    sincospif(2 * turns, &result[1], &result[0]);
  } else {
    sincospi(2 * turns, &result[1], &result[0]);
  }
  return result;
#else
  const T angle = T(6.28318530717958647692528676655900577L) * turns;
  return {std::cos(angle), std::sin(angle)};
#endif
}

template <typename T>
struct direct_modes {
  const ewald_domain<T>* domains;
  half_of_modes modes;
  std::size_t count;  ///< of the modes of a system
  long_range_modes<T> law;
  vec<T, 2>* sums;
  T* factors;  ///< of the potential: of a mode, and of its negative where that is another one

  [[nodiscard]] QUADRAT_HD std::size_t begin_of(std::uint32_t system) const { return system * count; }
  [[nodiscard]] QUADRAT_HD vec<T, 3> wave(std::uint32_t system, const vec<int, 3>& mode) const {
    vec<T, 3> result{};
    for (int axis = 0; axis < 3; ++axis) result += static_cast<T>(mode[axis]) * domains[system].waves[axis];
    return result;
  }
};

/// Index: mode of a system.
template <typename T>
struct sum_over_charges {
  direct_modes<T> modes;
  placed_charges<T> all;
  const vec<T, 3>* fractions;
  const T* charges;

  QUADRAT_HD void operator()(std::size_t index) const {
    const auto system = static_cast<std::uint32_t>(index / modes.count);
    const vec<int, 3> mode = modes.modes.at(index - system * modes.count);
    vec<T, 2> sum{};
    const std::uint32_t last = all.begin_of(system + 1);
    for (std::uint32_t slot = all.begin_of(system); slot < last; ++slot) {
      const vec<T, 2> turned = phase(mode, fractions[slot]);
      sum += charges[slot] * vec<T, 2>{turned[0], -turned[1]};
    }
    modes.sums[index] = sum;
    const T share = index == modes.begin_of(system) ? T(1) : T(2);
    modes.factors[index] = share * modes.law.at(squared_norm(modes.wave(system, mode))).value;
  }
};

/// Index: slot.
template <typename T>
struct sum_over_modes {
  direct_modes<T> modes;
  placed_charges<T> all;
  const vec<T, 3>* fractions;
  T* potentials;
  vec<T, 3>* gradients;

  QUADRAT_HD void operator()(std::size_t slot) const {
    const std::uint32_t system = all.system_at(slot);
    const vec<T, 3> fraction = fractions[slot];
    const vec<T, 2>* const sums = modes.sums + modes.begin_of(system);
    const T* const factors = modes.factors + modes.begin_of(system);
    const vec<T, 2> step = phase({0, 0, 1}, fraction);
    T potential = T(0);
    vec<T, 3> gradient{};
    // Modes are in rows along the last axis. The phase of a row's first one is turned on from mode to mode.
    for (std::size_t number = 0; number < modes.count;) {
      const vec<int, 3> first = modes.modes.at(number);
      vec<T, 2> turned = phase(first, fraction);
      T slopes = T(0);
      for (int last = first[2]; last <= modes.modes.most[2]; ++last, ++number) {
        const vec<T, 2> sum = factors[number] * sums[number];
        potential += sum[0] * turned[0] - sum[1] * turned[1];
        const T slope = -(sum[0] * turned[1] + sum[1] * turned[0]);
        slopes += slope;
        gradient[2] += slope * static_cast<T>(last);
        turned = {turned[0] * step[0] - turned[1] * step[1], turned[0] * step[1] + turned[1] * step[0]};
      }
      gradient[0] += slopes * static_cast<T>(first[0]);
      gradient[1] += slopes * static_cast<T>(first[1]);
    }
    const T scale = all.domains[system].inverse_volume;
    potentials[slot] = potential * scale;
    gradients[slot] = (T(6.28318530717958647692528676655900577L) * scale) * gradient;
  }
};

template <typename T>
struct virial_of_direct_mode {
  direct_modes<T> modes;

  QUADRAT_HD vec<double, 6> operator()(std::size_t index) const {
    const auto system = static_cast<std::uint32_t>(index / modes.count);
    const std::size_t number = index - system * modes.count;
    const vec<T, 3> wave = modes.wave(system, modes.modes.at(number));
    const auto here = modes.law.at(squared_norm(wave));
    const double square = (number == 0 ? 1 : 2) * static_cast<double>(modes.domains[system].inverse_volume) *
                          static_cast<double>(squared_norm(modes.sums[index]));
    vec<double, 6> virial{};
    int k = 0;
    for (int a = 0; a < 3; ++a) {
      for (int b = a; b < 3; ++b) {
        const double isotropic = a == b ? 0.5 * static_cast<double>(here.value) : 0;
        virial[k++] = square * (isotropic + static_cast<double>(here.slope * wave[a] * wave[b]));
      }
    }
    return virial;
  }
};

}  // namespace

template <typename Context, typename T>
direct_part<Context, T>::direct_part(const Context& context, const ewald_setup& setup, std::size_t systems)
    : context_(context), systems_(systems), modes_{} {
  const ewald_parameters& parameters = setup.parameters;
  for (int axis = 0; axis < 3; ++axis) modes_.most[axis] = parameters.mesh[axis];
  law_ = make_long_range_modes<T>(
      ewald_splitting(setup.law, split_shape_of(setup.method), parameters.cutoff, parameters.splitting));
  const std::size_t count = systems * modes_.count();
  require_memory(context.memory(), message("a direct sum over ", count, " modes"), count * sizeof(vec<T, 3>), 0,
                 "a method with a mesh needs less");
  sums_ = array<vec<T, 2>, Context>(context, count);
  factors_ = array<T, Context>(context, count);
}

template <typename Context, typename T>
void direct_part<Context, T>::prepare(const smooth_input<T>& /*input*/) {}

template <typename Context, typename T>
void direct_part<Context, T>::compute(const smooth_input<T>& input, const smooth_output<T>& output) {
  const direct_modes<T> modes{input.all.domains, modes_, modes_.count(), law_, sums_.data(), factors_.data()};
  const auto* const fractions = reinterpret_cast<const vec<T, 3>*>(input.fractions.component[0]);
  for_each(context_, "ewald.sum_over_charges", sums_.size(),
           sum_over_charges<T>{modes, input.all, fractions, input.charges});
  for_each(context_, "ewald.sum_over_modes", input.all.count,
           sum_over_modes<T>{modes, input.all, fractions, output.potentials, output.gradients});
  if (output.virials == nullptr) return;
  sum_by_system(context_, modes, systems_, sums_.size(), virial_of_direct_mode<T>{modes}, output.virials, scratch_);
}

template <typename Context, typename T>
std::size_t direct_part<Context, T>::bytes() const {
  return sums_.bytes() + factors_.bytes() + scratch_.bytes();
}

template class direct_part<backend_context, float>;
template class direct_part<backend_context, double>;

}  // namespace quadrat::detail
