// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "quadrat/core/box.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/pimpl.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/core/views.hpp"

/// Power spectra and structure factors of points in periodic boxes, by a mesh.
namespace quadrat {

/// What the power of a mode is divided by. F is the transform of the weighted points, V the volume, N their number.
enum class spectrum_normalization {
  power,            ///< P = V |F|^2 / (sum of the weights)^2, of the density relative to its mean
  structure_factor  ///< S = |F|^2 / N; of two sets, F_1 F_2* / sqrt(N_1 N_2)
};

struct power_spectrum_options {
  /// Of the cardinal B-spline by which points are spread: 1 nearest grid point, 2 cloud in cell, 3 triangular shaped
  /// cloud, 4 piecewise cubic spline.
  int order = 4;
  /// Adds a second mesh, half a cell away along every axis, in Fourier space. Odd aliases cancel (Sefusatti et al.
  /// 2016, section 2.2). The points are spread and transformed twice.
  bool interlaced = true;
  /// Divides the power of each mode by the square of the window's transform: interlaced, of the window alone; otherwise
  /// with all of its aliases, which makes the power of uncorrelated points exact (Jing 2005, equation 20).
  bool compensated = true;
  /// Subtracts the shot noise from the multipole 0 of a set with itself.
  bool subtract_shot_noise = false;
  spectrum_normalization normalization = spectrum_normalization::power;
  /// The degrees of the multipoles, of 0, 2 and 4; in 2D only 0.
  std::vector<int> multipoles{0};
  /// The axis to which the angles of the multipoles are taken.
  int line_of_sight = 0;
  /// Of the bins, increasing, in radians per unit of length. Bin i holds edges[i] <= k < edges[i + 1]; a k that is
  /// equal to an edge within 1e-12 of it counts as equal. Empty: 2 pi / (longest side) and its multiples, up to the
  /// least of the axes' Nyquist wave numbers pi (extent) / (side).
  std::vector<double> edges{};
  std::string method{};  ///< of spreading: one of spread_methods(); empty or "auto": chosen automatically
  std::string fft{};     ///< one of fft_libraries(); empty or "auto": chosen automatically
};

/// On the host. Of bins without modes, k and power are NaN.
struct power_spectrum_result {
  std::vector<double> edges;         ///< one more than bins
  std::vector<double> k;             ///< by bin: the mean over its modes
  std::vector<std::uint64_t> modes;  ///< by bin: of the whole sphere, so that k and -k are two
  std::vector<int> multipoles;       ///< their degrees
  /// Of multipole m and bin i, at [m * bins() + i]: (2 l + 1) times the mean over the bin's modes of their power times
  /// the Legendre polynomial of degree l of the cosine between k and the line of sight. The mode k = 0 has power 0.
  std::vector<double> power;
  /// What uncorrelated points would have in every mode: V (sum of squared weights) / (sum of weights)^2, as a structure
  /// factor (sum of squared weights) / N; of two sets 0.
  double shot_noise = 0;

  [[nodiscard]] std::size_t bins() const { return modes.size(); }
};

/// The power spectrum of weighted points in a periodic box, averaged over bins of the wave number k, in the definitions
/// of nbodykit's FFTPower (Hand et al. 2018). Move-only. Context: cpu_context or cuda_context; T: float or double; D: 2
/// or 3.
///
/// The points are spread onto a mesh (spread_plan) and transformed (real_fft); one pass over the half of the modes that
/// is stored sums up all bins. Holds the meshes' memory from the first call on: a mesh and, for each set, its modes,
/// interlaced twice.
///
/// Determinism: the bits of results are those of the spreading: the same in every run on contexts at run_to_run, for
/// any number of threads. Modes are counted exactly, the same on CPUs and GPUs.
/// Sources: Hockney and Eastwood 1988 (spreading); Jing 2005; Sefusatti et al. 2016.
template <typename Context, typename T, int D>
class power_spectrum {
  static_assert(detail::instance<Context, T, D>::exists);

 public:
  /// Counts the modes of each bin. May allocate: all but the points' memory. Throws argument_error for open axes;
  /// extents that are not products of 2, 3 and 5, or odd along the last axis; more than 2^31 - 1 mesh points; an order,
  /// multipoles or edges that are invalid; more than 2^16 bins; unknown methods and libraries.
  power_spectrum(const Context& context, const box<T, D>& domain, const vec<int, D>& mesh,
                 const power_spectrum_options& options = {});

  /// The power of a set of points with itself. Points outside the box are wrapped. The points and their weights
  /// (nullptr: all 1) are in the memory of the context. Waits. May allocate. Throws argument_error for no points and
  /// for null pointers; data_error naming the first point that is not finite, for weights whose sum is not finite, and,
  /// unless structure_factor is asked, for a sum of 0.
  [[nodiscard]] power_spectrum_result measure(const points_view<T, D>& points, const T* weights = nullptr);

  /// The cross power of two sets, the real part of F_1 F_2*. Waits. May allocate. Throws what `measure` throws; errors
  /// about the second set begin with "others".
  [[nodiscard]] power_spectrum_result measure_cross(const points_view<T, D>& points, const T* weights,
                                                    const points_view<T, D>& others, const T* other_weights);

  /// With the defaults that depend on the box filled in.
  [[nodiscard]] const power_spectrum_options& options() const;
  /// Bytes of the context's memory held.
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct implementation;
  detail::pimpl<implementation> implementation_;
};

}  // namespace quadrat
