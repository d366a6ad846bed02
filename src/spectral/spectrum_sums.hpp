// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <string>
#include <vector>

#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "spectral/shells.hpp"
#include "spectral/spectrum_options.hpp"

/// The sums over modes of power spectra, as host-device code.
namespace quadrat::detail {

/// The number of modes, and the sum of their wave numbers.
struct shell_modes {
  shell_mesh mesh;

  QUADRAT_HD void operator()(const mode_group& group, double* numbers) const {
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

  shell_mesh mesh;
  std::size_t row;  ///< complex numbers of a transform along the last axis
  set_modes<T> sets[2];
  bool cross;               ///< of the two sets; otherwise of the first with itself
  const double* turns[3];   ///< by n, cosine and sine of the angle that undoes the shift
  const double* factor[3];  ///< by n
  int line_of_sight;
  int degrees[most_shell_columns];

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
  [[nodiscard]] QUADRAT_HD double power(const mode_group& group) const {
    const int x = group.n[0], y = group.n[1];
    const bool both[2] = {mesh.mirrored(x, 0), mesh.mirrored(y, 1)};
    std::size_t at[members];
    QUADRAT_UNROLL
    for (int member = 0; member < members; ++member) {  // a member that does not exist is read as its mirror image
      const int i = member / 2 == 1 && both[0] ? mesh.extent[0] - x : x;
      const int j = member % 2 == 1 && both[1] ? mesh.extent[1] - y : y;
      const std::size_t line =
          static_cast<std::size_t>(i) * static_cast<std::size_t>(mesh.stored(1)) + static_cast<std::size_t>(j);
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

  QUADRAT_HD void operator()(const mode_group& group, double* numbers) const {
    const bool constant = group.square == 0;  // the mean of the density
    const double scale = factor[0][group.n[0]] * factor[1][group.n[1]] * factor[2][group.n[2]] * group.times(mesh);
    const double sum = constant ? 0 : scale * power(group);
    const int* const n = group.n;
    const double along = line_of_sight == 0   ? mesh.squares[0][n[0]]
                         : line_of_sight == 1 ? mesh.squares[1][n[1]]
                                              : mesh.squares[2][n[2]];
    const double square = constant ? 0 : along / group.square;  // of the cosine
    QUADRAT_UNROLL
    for (int c = 0; c < most_shell_columns; ++c) {
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

/// Sums over the modes that are here: all, or those of a block.
template <typename Context, typename T>
class spectrum_sums {
 public:
  /// `options`: with edges. `block`: of the modes that are stored along the first two axes; whole axes are grouped by
  /// sign. May allocate.
  spectrum_sums(const Context& where, const spectrum_mesh& mesh, const power_spectrum_options& options,
                const mode_block& block);

  /// The number of modes, and the sum of their wave numbers: [number][shell]. Waits. May allocate.
  [[nodiscard]] std::vector<double> modes() {
    return sum_shells(context_, "spectral.count_modes", shells_, shell_modes{shells_}, 2, sums_);
  }
  /// The sums of the power: [multipole][shell]. `second`: of another set, or nullptr. `row`: complex numbers of a
  /// transform along the last axis. Waits. May allocate.
  [[nodiscard]] std::vector<double> power(const set_modes<T>& first, const set_modes<T>* second, std::size_t row);

  [[nodiscard]] std::size_t bytes() const { return tables_.bytes() + sums_.bytes(); }

 private:
  Context context_;
  std::vector<int> multipoles_;
  int line_of_sight_;
  array<double, Context> tables_, sums_;
  shell_mesh shells_{};
  const double *turns_[3] = {}, *factors_[3] = {};
};

template <typename Context, typename T>
spectrum_sums<Context, T>::spectrum_sums(const Context& where, const spectrum_mesh& mesh,
                                         const power_spectrum_options& options, const mode_block& block)
    : context_(where), multipoles_(options.multipoles), line_of_sight_(mesh.first_axis + options.line_of_sight) {
  const spectrum_tables all = make_spectrum_tables(mesh, options, block);
  tables_ = to_device(context_, all.numbers);
  for (int axis = 0; axis < 3; ++axis) {
    shells_.extent[axis] = mesh.extent[axis];
    if (axis < 2 && !block.whole(axis, mesh)) shells_.part[axis] = block.end[axis] - block.first[axis];
    shells_.squares[axis] = tables_.data() + all.squares[axis];
    turns_[axis] = tables_.data() + all.turns[axis];
    factors_[axis] = tables_.data() + all.factors[axis];
  }
  shells_.edges = tables_.data() + all.edges;
  shells_.shells = static_cast<std::uint32_t>(options.edges.size() - 1);
}

template <typename Context, typename T>
std::vector<double> spectrum_sums<Context, T>::power(const set_modes<T>& first, const set_modes<T>* second,
                                                     std::size_t row) {
  shell_power<T> values{};
  values.mesh = shells_;
  values.row = row;
  values.cross = second != nullptr;
  values.sets[0] = first;
  if (second != nullptr) values.sets[1] = *second;
  for (int axis = 0; axis < 3; ++axis) {
    values.turns[axis] = turns_[axis];
    values.factor[axis] = factors_[axis];
  }
  values.line_of_sight = line_of_sight_;
  std::copy(multipoles_.begin(), multipoles_.end(), values.degrees);
  return sum_shells(context_, "spectral.sum_power", shells_, values, static_cast<int>(multipoles_.size()), sums_);
}

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

}  // namespace quadrat::detail
