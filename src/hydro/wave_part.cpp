// SPDX-License-Identifier: BSD-3-Clause
#include "hydro/wave_part.hpp"

#include <cmath>
#include <numbers>

#include "core/backend.hpp"
#include "core/memory_check.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/for_each.hpp"

namespace quadrat::detail {

namespace {

/// Modes times their share of the mobility, H(k) sinc(k a)^2 / k^2 (1 - k k / k^2), plus the root of it times normal
/// numbers. Index: stored mode.
template <typename T>
struct apply_mobility {
  wave_law<T> law;
  T scale;      ///< of existing modes; 0: there are none
  T amplitude;  ///< of noise; 0: none
  noise_words words;
  vec<T, 2>* values;  ///< [axis][mode]

  QUADRAT_HD void operator()(std::size_t index) const {
    const vec<int, 3> mode = law.modes.at(index);
    const vec<T, 3> k = law.modes.wave(mode);
    const T square = squared_norm(k);
    const std::size_t apart = law.modes.count();
    const T inverse = square == T(0) ? T(0) : T(1) / square;
    const T share = law.share(square, inverse);
    vec<vec<T, 2>, 3> sum{};
    if (scale != T(0)) {
      const T factor = scale * share;
      for (int axis = 0; axis < 3; ++axis) sum[axis] = factor * values[static_cast<std::size_t>(axis) * apart + index];
    }
    if (amplitude != T(0)) {
      const T factor = law.noise_factor(amplitude, share, mode[2]);
      const vec<vec<T, 2>, 3> normal = law.normals(words, index);
      for (int axis = 0; axis < 3; ++axis) sum[axis] += factor * normal[axis];
    }
    vec<T, 2> along{};
    for (int axis = 0; axis < 3; ++axis) along += k[axis] * sum[axis];
    along *= inverse;
    for (int axis = 0; axis < 3; ++axis) {
      values[static_cast<std::size_t>(axis) * apart + index] = sum[axis] - k[axis] * along;
    }
  }
};

/// Cosine and sine of k . x.
template <typename T>
[[nodiscard]] QUADRAT_HD vec<T, 2> turn_of(const vec<int, 3>& mode, const vec<T, 3>& place,
                                           const vec<T, 3>& inverse_box) {
  T turns = T(0);
  for (int axis = 0; axis < 3; ++axis) {
    const T part = static_cast<T>(mode[axis]) * (place[axis] * inverse_box[axis]);
    turns += part - std::floor(part);
  }
  const T angle = T(6.28318530717958647692528676655900577L) * turns;
  return {std::cos(angle), std::sin(angle)};
}

/// Type 1 by sums. Index: stored mode.
template <typename T>
struct sum_over_spheres {
  stored_modes<T> modes;
  const sphere_vector<T>* places;
  vec<T, 3> inverse_box;
  std::size_t count;
  const T* forces;
  vec<T, 2>* values;

  QUADRAT_HD void operator()(std::size_t index) const {
    const vec<int, 3> mode = modes.at(index);
    vec<vec<T, 2>, 3> sum{};
    for (std::size_t slot = 0; slot < count; ++slot) {
      const vec<T, 2> turned = turn_of(mode, places[slot].value, inverse_box);
      for (int axis = 0; axis < 3; ++axis) sum[axis] += forces[static_cast<std::size_t>(axis) * count + slot] * turned;
    }
    for (int axis = 0; axis < 3; ++axis) values[static_cast<std::size_t>(axis) * modes.count() + index] = sum[axis];
  }
};

/// Type 2 by sums. Index: slot.
template <typename T>
struct sum_over_stored_modes {
  stored_modes<T> modes;
  const sphere_vector<T>* places;
  vec<T, 3> inverse_box;
  std::size_t count;
  const vec<T, 2>* values;
  T* velocities;

  QUADRAT_HD void operator()(std::size_t slot) const {
    const vec<T, 3> place = places[slot].value;
    const std::size_t apart = modes.count();
    vec<T, 3> sum{};
    for (std::size_t index = 0; index < apart; ++index) {
      const vec<int, 3> mode = modes.at(index);
      const vec<T, 2> turned = turn_of(mode, place, inverse_box);
      const T times = mode[2] == 0 ? T(1) : T(2);
      for (int axis = 0; axis < 3; ++axis) {
        sum[axis] += times * dot(values[static_cast<std::size_t>(axis) * apart + index], turned);
      }
    }
    for (int axis = 0; axis < 3; ++axis) velocities[static_cast<std::size_t>(axis) * count + slot] = sum[axis];
  }
};

/// The most spheres times modes of direct sums, for some minutes. More is probably a mistake.
constexpr double most_direct_terms = 1e11;

}  // namespace

template <typename Context, typename T>
wave_part<Context, T>::wave_part(const Context& context, const mobility_choice& choice, const vec<double, 3>& box,
                                 double radius, std::size_t spheres, std::size_t most_bytes)
    : context_(context),
      direct_(choice.method == "direct"),
      law_(make_wave_law<T>(choice.parameters, box, radius)),
      inverse_box_{} {
  const mobility_parameters& parameters = choice.parameters;
  double count = 1;
  for (int axis = 0; axis < 3; ++axis) {
    inverse_box_[axis] = static_cast<T>(1 / box[axis]);
    count *= axis == 2 ? (parameters.modes[axis] + 1) / 2 : parameters.modes[axis];
  }
  const auto what = [&] {
    return message("the wave part of ", law_.modes.extent[0], " x ", law_.modes.extent[1], " x ", law_.modes.extent[2],
                   " modes");
  };
  require(count < 0x1p31, what(), " has more than 2^31 of them; a smaller box, a smaller splitting parameter or a ",
          "larger cutoff needs fewer");
  const double terms = count * static_cast<double>(spheres);
  require(!direct_ || terms <= most_direct_terms, "the method direct would sum over ", spheres, " spheres times ",
          count, " modes; up to ", most_direct_terms, " terms are possible, and the method split serves");
  if (!direct_) {
    nufft_options options;
    options.values = nufft_values::real;
    options.period = box;
    options.oversampling = choice.oversampling;
    options.most_bytes = most_bytes;
    plan_ = std::make_unique<nufft_plan<Context, T, 3>>(context, parameters.modes, choice.tolerance, options);
  }
  const std::size_t numbers = 3 * law_.modes.count();
  require_memory(context.memory(), what(), numbers * sizeof(std::complex<T>), 0, "a larger cutoff needs fewer modes");
  values_ = array<std::complex<T>, Context>(context, numbers);
}

template <typename Context, typename T>
void wave_part<Context, T>::set_points(const sphere_vector<T>* places, std::size_t count) {
  places_ = places;
  count_ = count;
  if (direct_) return;
  const auto view = strided_points<3>(places->value.component, count, sizeof(sphere_vector<T>) / sizeof(T));
  if (placed_) {
    plan_->set_points_async(view);
  } else {
    plan_->set_points(view);
  }
  placed_ = true;
}

template <typename Context, typename T>
void wave_part<Context, T>::compute(const T* forces, T scale, const wave_noise& noise, T* velocities) {
  auto* const values = reinterpret_cast<vec<T, 2>*>(values_.data());
  if (forces == nullptr) {
    scale = T(0);
  } else if (direct_) {
    for_each(context_, "mobility.direct_modes", law_.modes.count(),
             sum_over_spheres<T>{law_.modes, places_, inverse_box_, count_, forces, values});
  } else {
    plan_->type_1_async(forces, values_.data(), {.vectors = 3});
  }
  for_each(context_, "mobility.waves", law_.modes.count(),
           apply_mobility<T>{law_, scale, static_cast<T>(noise.amplitude), noise.words, values});
  if (direct_) {
    for_each(context_, "mobility.direct_velocities", count_,
             sum_over_stored_modes<T>{law_.modes, places_, inverse_box_, count_, values, velocities});
  } else {
    plan_->type_2_async(values_.data(), velocities, {.vectors = 3});
  }
}

template <typename Context, typename T>
std::size_t wave_part<Context, T>::bytes() const {
  return values_.bytes() + (plan_ == nullptr ? 0 : plan_->bytes());
}

template class wave_part<backend_context, float>;
template class wave_part<backend_context, double>;

}  // namespace quadrat::detail
