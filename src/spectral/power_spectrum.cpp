// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/spectral/power_spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <optional>
#include <string>
#include <type_traits>

#include "core/backend.hpp"
#include "core/point_checks.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/mesh/spread_plan.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/reduce.hpp"
#include "quadrat/parallel/workspace.hpp"
#include "quadrat/spectral/fft.hpp"
#include "spectral/fill_ones.hpp"
#include "spectral/shells.hpp"
#include "spectral/spectrum_options.hpp"

namespace quadrat {

namespace {

/// The number of modes, and the sum of their wave numbers.
struct shell_modes {
  detail::shell_mesh mesh;

  QUADRAT_HD void operator()(const detail::mode_group& group, double* numbers) const {
    const double members = (mesh.mirrored(group.n[0], 0) ? 2 : 1) * (mesh.mirrored(group.n[1], 1) ? 2 : 1);
    numbers[0] = members * group.times(mesh);
    numbers[1] = numbers[0] * std::sqrt(group.square);
  }
};

/// The transforms of a set of points.
template <typename T>
struct set_modes {
  const std::complex<T>* plain;
  const std::complex<T>* shifted;  ///< of the mesh half a cell lower; without one, the same as `plain`
};

/// The power of a group, by multipole.
template <typename T>
struct shell_power {
  static constexpr int members = 4;

  detail::shell_mesh mesh;
  std::size_t row;  ///< complex numbers of a transform along the last axis
  set_modes<T> sets[2];
  bool cross;               ///< of the two sets; otherwise of the first with itself
  const double* turns[3];   ///< by n >= 0, cosine and sine of the angle that undoes the shift
  const double* factor[3];  ///< by n >= 0
  int line_of_sight;
  int degrees[detail::most_shell_columns];

  struct complex_number {
    double re, im;
  };
  /// As it is stored.
  struct alignas(2 * sizeof(T)) stored_number {
    T re, im;
  };
  /// The modes of a set in a group.
  struct set_numbers {
    stored_number plain[members], shifted[members];
  };

  [[nodiscard]] static QUADRAT_HD complex_number product(const complex_number& a, const complex_number& b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  [[nodiscard]] QUADRAT_HD complex_number turn(int n, int axis, bool negative) const {
    const double* const of_mode = turns[axis] + 2 * static_cast<std::ptrdiff_t>(n);
    return {of_mode[0], negative ? -of_mode[1] : of_mode[1]};
  }
  /// The mean of the two meshes.
  [[nodiscard]] static QUADRAT_HD complex_number mode(const stored_number& plain, const stored_number& shifted,
                                                      const complex_number& turned) {
    const complex_number back = product({static_cast<double>(shifted.re), static_cast<double>(shifted.im)}, turned);
    return {0.5 * (static_cast<double>(plain.re) + back.re), 0.5 * (static_cast<double>(plain.im) + back.im)};
  }
  /// All at once, so that the loads are in flight together.
  [[nodiscard]] static QUADRAT_HD set_numbers load(const set_modes<T>& of, const std::size_t (&at)[members]) {
    const auto* plain = reinterpret_cast<const stored_number*>(of.plain);
    const auto* shifted = reinterpret_cast<const stored_number*>(of.shifted);
    set_numbers numbers;
    QUADRAT_UNROLL
    for (int member = 0; member < members; ++member) {
      numbers.plain[member] = plain[at[member]];
      numbers.shifted[member] = shifted[at[member]];
    }
    return numbers;
  }

  /// The sum over the stored members of a group: n_x is negative in the last two, n_y in every other.
  [[nodiscard]] QUADRAT_HD double power(const detail::mode_group& group) const {
    const int x = group.n[0], y = group.n[1];
    const bool both[2] = {mesh.mirrored(x, 0), mesh.mirrored(y, 1)};
    std::size_t at[members];
    QUADRAT_UNROLL
    for (int member = 0; member < members; ++member) {  // a member that does not exist is read as its mirror image
      const int i = member / 2 == 1 && both[0] ? mesh.extent[0] - x : x;
      const int j = member % 2 == 1 && both[1] ? mesh.extent[1] - y : y;
      const std::size_t line =
          static_cast<std::size_t>(i) * static_cast<std::size_t>(mesh.extent[1]) + static_cast<std::size_t>(j);
      at[member] = line * row + static_cast<std::size_t>(group.n[2]);
    }
    const set_numbers first = load(sets[0], at);
    const set_numbers second = cross ? load(sets[1], at) : first;
    const complex_number last = turn(group.n[2], 2, false);
    double sum = 0;
    QUADRAT_UNROLL
    for (int member = 0; member < members; ++member) {
      const bool negative[2] = {member / 2 == 1, member % 2 == 1};
      const complex_number turned = product(product(turn(x, 0, negative[0]), turn(y, 1, negative[1])), last);
      const complex_number a = mode(first.plain[member], first.shifted[member], turned);
      const complex_number b = mode(second.plain[member], second.shifted[member], turned);
      const bool exists = (!negative[0] || both[0]) && (!negative[1] || both[1]);
      sum += exists ? a.re * b.re + a.im * b.im : 0;
    }
    return sum;
  }

  QUADRAT_HD void operator()(const detail::mode_group& group, double* numbers) const {
    const bool constant = group.square == 0;  // the mean of the density
    const double scale = factor[0][group.n[0]] * factor[1][group.n[1]] * factor[2][group.n[2]] * group.times(mesh);
    const double sum = constant ? 0 : scale * power(group);
    const int* const n = group.n;
    const double along = line_of_sight == 0   ? mesh.squares[0][n[0]]
                         : line_of_sight == 1 ? mesh.squares[1][n[1]]
                                              : mesh.squares[2][n[2]];
    const double square = constant ? 0 : along / group.square;  // of the cosine
    QUADRAT_UNROLL
    for (int c = 0; c < detail::most_shell_columns; ++c) {
      double times = 1;  // (2 l + 1) times the Legendre polynomial
      if (degrees[c] == 2) times = 2.5 * (3 * square - 1);
      if (degrees[c] == 4) times = 1.125 * ((35 * square - 30) * square + 3);
      numbers[c] = times * sum;
    }
  }
};

/// Index: point. The weight, and its square.
template <typename T>
struct weight_moments {
  const T* weights;
  QUADRAT_HD vec<double, 2> operator()(std::size_t i) const {
    const auto weight = static_cast<double>(weights[i]);
    return {weight, weight * weight};
  }
};

/// What was spread of a set.
struct set_moments {
  double points = 0, sum = 0, squares = 0;
};

/// Errors about a point, and about the weights, of the second set.
template <typename Call>
void about_others(const Call& call) {
  try {
    call();
  } catch (const data_error& problem) {
    const std::string text = message("others: ", problem.what());
    if (problem.index()) throw data_error(text, *problem.index());
    throw data_error(text);
  } catch (const argument_error& problem) {
    throw argument_error(message("others: ", problem.what()));
  }
}

}  // namespace

template <typename Context, typename T, int D>
struct power_spectrum<Context, T, D>::implementation {
  implementation(const Context& where, const box<T, D>& domain, const vec<int, D>& extents,
                 const power_spectrum_options& wanted);

  [[nodiscard]] power_spectrum_result measure(const points_view<T, D>& points, const T* weights,
                                              const points_view<T, D>* others, const T* other_weights);
  [[nodiscard]] std::size_t bytes() const;

  Context context;
  power_spectrum_options options;

 private:
  using spread_type = spread_plan<Context, T, D>;

  void make_tables();
  [[nodiscard]] set_moments transform(int set, const points_view<T, D>& points, const T* weights);
  [[nodiscard]] const T* weights_of(const points_view<T, D>& points, const T* weights);
  [[nodiscard]] shell_power<T> values_of(bool cross) const;
  [[nodiscard]] int meshes() const { return options.interlaced ? 2 : 1; }

  detail::spectrum_mesh shape;  ///< of the box
  real_fft<Context, T, D> fft;
  std::optional<spread_type> plans[2];  ///< plain, and half a cell lower
  power_spectrum_result counted;        ///< without power
  array<double, Context> tables;
  detail::shell_mesh shells{};
  const double *turns[3] = {}, *factors[3] = {};
  array<double, Context> sums;
  array<T, Context> ones, mesh;
  array<std::complex<T>, Context> modes[2][2];  ///< [set][mesh]
};

template <typename Context, typename T, int D>
power_spectrum<Context, T, D>::implementation::implementation(const Context& where, const box<T, D>& domain,
                                                              const vec<int, D>& extents,
                                                              const power_spectrum_options& wanted)
    : context(where),
      options(detail::checked_spectrum_options(wanted, D)),
      shape(detail::make_spectrum_mesh(domain, extents)),
      fft(where, extents, {.library = wanted.fft}) {
  if (options.edges.empty()) options.edges = detail::usual_edges(shape);
  spread_options spreading;
  spreading.method = options.method;
  for (int k = 0; k < meshes(); ++k) {
    box<T, D> shifted = domain;
    for (int d = 0; d < D; ++d)
      shifted.lower[d] -= static_cast<T>(k) * domain.length[d] / static_cast<T>(2 * extents[d]);
    plans[k].emplace(where, shifted, extents, options.order, spreading);
  }
  make_tables();
  const std::vector<double> found =
      detail::sum_shells(context, "spectral.count_modes", shells, shell_modes{shells}, 2, sums);
  counted.edges = options.edges;
  counted.multipoles = options.multipoles;
  for (std::size_t i = 0; i < shells.shells; ++i) {
    counted.modes.push_back(static_cast<std::uint64_t>(found[i]));
    counted.k.push_back(found[shells.shells + i] / found[i]);
  }
}

/// Copies what depends on one axis to the device.
template <typename Context, typename T, int D>
void power_spectrum<Context, T, D>::implementation::make_tables() {
  const detail::spectrum_tables all = detail::make_spectrum_tables(shape, options);
  tables = to_device(context, all.numbers);
  for (int axis = 0; axis < 3; ++axis) {
    shells.extent[axis] = shape.extent[axis];
    shells.squares[axis] = tables.data() + all.squares[axis];
    turns[axis] = tables.data() + all.turns[axis];
    factors[axis] = tables.data() + all.factors[axis];
  }
  shells.edges = tables.data() + all.edges;
  shells.shells = static_cast<std::uint32_t>(options.edges.size() - 1);
}

template <typename Context, typename T, int D>
const T* power_spectrum<Context, T, D>::implementation::weights_of(const points_view<T, D>& points, const T* weights) {
  detail::require_points(points, "points");
  require(points.count > 0, "there are no points; a power spectrum needs at least one");
  if (weights != nullptr) return weights;
  ones.resize_discarding(context, points.count);
  for_each(context, "spectral.fill_ones", points.count, detail::fill_ones<T>{ones.data()});
  return ones.data();
}

/// Spreads a set onto each mesh, and transforms that.
template <typename Context, typename T, int D>
set_moments power_spectrum<Context, T, D>::implementation::transform(int set, const points_view<T, D>& points,
                                                                     const T* given) {
  const T* const weights = weights_of(points, given);
  workspace<Context> scratch;
  const auto moments =
      reduce_sum(context, "spectral.weight_moments", points.count, weight_moments<T>{weights}, scratch);
  if (!std::isfinite(moments[0]) || !std::isfinite(moments[1])) {
    throw data_error(
        message("the weights add up to ", moments[0], " and their squares to ", moments[1], "; both must be finite"));
  }
  if (options.normalization == spectrum_normalization::power && moments[0] == 0) {
    throw data_error(
        "the weights add up to 0; the density relative to its mean needs another sum (structure_factor does "
        "not)");
  }
  mesh.resize_discarding(context, fft.mesh_size());
  for (int k = 0; k < meshes(); ++k) {
    plans[k]->set_points(points);
    plans[k]->spread_async(weights, mesh.data());
    modes[set][k].resize_discarding(context, fft.mode_size());
    fft.forward_async(mesh.data(), modes[set][k].data());
  }
  return {static_cast<double>(points.count), moments[0], moments[1]};
}

template <typename Context, typename T, int D>
shell_power<T> power_spectrum<Context, T, D>::implementation::values_of(bool cross) const {
  shell_power<T> values{};
  values.mesh = shells;
  values.row = fft.mode_row();
  values.cross = cross;
  for (int set = 0; set < (cross ? 2 : 1); ++set) {
    values.sets[set] = {modes[set][0].data(), modes[set][options.interlaced ? 1 : 0].data()};
  }
  for (int axis = 0; axis < 3; ++axis) {
    values.turns[axis] = turns[axis];
    values.factor[axis] = factors[axis];
  }
  values.line_of_sight = 3 - D + options.line_of_sight;
  std::copy(options.multipoles.begin(), options.multipoles.end(), values.degrees);
  return values;
}

template <typename Context, typename T, int D>
power_spectrum_result power_spectrum<Context, T, D>::implementation::measure(const points_view<T, D>& points,
                                                                             const T* weights,
                                                                             const points_view<T, D>* others,
                                                                             const T* other_weights) {
  const set_moments first = transform(0, points, weights);
  set_moments second = first;
  if (others != nullptr) about_others([&] { second = transform(1, *others, other_weights); });
  const int columns = static_cast<int>(options.multipoles.size());
  power_spectrum_result result = counted;
  result.power = detail::sum_shells(context, "spectral.sum_power", shells, values_of(others != nullptr), columns, sums);
  for (int k = 0; k < meshes(); ++k) plans[k]->check();
  const bool power = options.normalization == spectrum_normalization::power;
  const double scale = power ? shape.volume() / first.sum / second.sum : 1 / std::sqrt(first.points * second.points);
  if (others == nullptr) result.shot_noise = scale * first.squares;
  for (std::size_t i = 0; i < result.power.size(); ++i) {
    const std::size_t bin = i % result.bins();
    result.power[i] *= scale / static_cast<double>(result.modes[bin]);
    const bool noisy = options.subtract_shot_noise && result.multipoles[i / result.bins()] == 0;
    if (noisy) result.power[i] -= result.shot_noise;
  }
  return result;
}

template <typename Context, typename T, int D>
std::size_t power_spectrum<Context, T, D>::implementation::bytes() const {
  std::size_t held = fft.bytes() + tables.bytes() + sums.bytes() + ones.bytes() + mesh.bytes();
  for (const auto& plan : plans) held += plan ? plan->bytes() : 0;
  for (const auto& set : modes) held += set[0].bytes() + set[1].bytes();
  return held;
}

template <typename Context, typename T, int D>
power_spectrum<Context, T, D>::power_spectrum(const Context& context, const box<T, D>& domain, const vec<int, D>& mesh,
                                              const power_spectrum_options& options)
    : implementation_(std::make_unique<implementation>(context, domain, mesh, options)) {}

template <typename Context, typename T, int D>
power_spectrum_result power_spectrum<Context, T, D>::measure(const points_view<T, D>& points, const T* weights) {
  return implementation_->measure(points, weights, nullptr, nullptr);
}
template <typename Context, typename T, int D>
power_spectrum_result power_spectrum<Context, T, D>::measure_cross(const points_view<T, D>& points, const T* weights,
                                                                   const points_view<T, D>& others,
                                                                   const T* other_weights) {
  return implementation_->measure(points, weights, &others, other_weights);
}
template <typename Context, typename T, int D>
const power_spectrum_options& power_spectrum<Context, T, D>::options() const {
  return implementation_->options;
}
template <typename Context, typename T, int D>
std::size_t power_spectrum<Context, T, D>::bytes() const {
  return implementation_->bytes();
}

template class power_spectrum<backend_context, float, 2>;
template class power_spectrum<backend_context, float, 3>;
template class power_spectrum<backend_context, double, 2>;
template class power_spectrum<backend_context, double, 3>;

}  // namespace quadrat
