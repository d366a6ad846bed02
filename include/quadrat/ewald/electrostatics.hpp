// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "quadrat/core/context.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/lattice.hpp"
#include "quadrat/core/method.hpp"
#include "quadrat/core/pimpl.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/ewald/ewald_pair.hpp"
#include "quadrat/tune/explanation.hpp"

/// Sums over all pairs of charges and all their periodic images, by Ewald's splitting: a short-range part over pairs
/// nearer than a cutoff, and a smooth part over the modes of a mesh.
namespace quadrat {

/// The energy of a pair at distance r.
enum class pair_law {
  coulomb,    ///< k q_i q_j / r
  dispersion  ///< -k c_i c_j / r^6: charges are the square roots of the coefficients (geometric combination)
};

/// The parts of the sum that are computed. They add up, and can be computed at different times (multiple time steps).
enum class ewald_parts {
  both,
  short_range,  ///< pairs nearer than the cutoff, and the changes by scaled pairs
  long_range    ///< the mesh without self-interaction, the background, and slab corrections
};

/// A pair of points whose interaction is scaled; `scale` 0 excludes it. Applies to the nearest image of the pair; all
/// other images interact fully.
struct scaled_pair {
  particle_id first;
  particle_id second;
  double scale = 0;
};

/// The parameters that determine accuracy and time. 0: auto.
struct ewald_parameters {
  double cutoff = 0;  ///< of the short-range part, a length
  /// Gaussian splitting (spme, direct): the inverse length alpha in erfc(alpha r) / r. Prolate splitting (esp): the
  /// number c, pi times the product of the cutoff's diameter and the largest frequency.
  double splitting = 0;
  /// Extents: products of 2, 3 and 5, the last one even. direct: the largest mode along each axis. Chosen ones are
  /// along the shortest vectors with the same images, if the cell is strongly sheared; given ones along those of the
  /// cell.
  vec<int, 3> mesh{};
  int order = 0;  ///< width of the window in mesh points, 3 to 8
};

struct electrostatics_options {
  pair_law law = pair_law::coulomb;
  std::string method{};  ///< one of electrostatics_methods(); empty or "auto": the one expected to be fastest
  /// The root mean square error of forces, in units of the reference force k q^2 / d^2 (dispersion: k c^2 / d^7), with
  /// the mean square charge q^2 and d = (volume / number of points)^(1/3). 1e-14 to 0.5. For forces only; the report
  /// has the errors of energies and virials.
  double accuracy = 1e-5;
  double coulomb_constant = 1;    ///< k
  ewald_parameters parameters{};  ///< nonzero ones are used, and then determine the accuracy
  ewald_parts parts = ewald_parts::both;
  bool remove_net_force = false;  ///< subtracts the mean force of each system: the mesh part has a small net force
  std::size_t most_bytes = 0;     ///< bytes that may be held; 0: all free memory
};

/// The input of a sum. Arrays by point are in the memory of the context's device, the rest is on the host.
template <typename T>
struct electrostatics_input {
  points_view<T, 3> points{};  ///< any image of each
  const T* charges = nullptr;
  /// One, or one per system, each periodic along all three vectors, or along the first two (a slab). The third vector
  /// of a slab spans its thickness; all points must lie between its faces, and outside is empty space.
  std::span<const lattice<T, 3>> cells{};
  const std::uint32_t* system_of_point = nullptr;  ///< from 0, in any order; nullptr for one system
  std::span<const scaled_pair> scaled_pairs{};     ///< each pair once, of the same system
};

/// The destination of results, in the memory of the context's device. nullptr: not computed.
template <typename T>
struct electrostatics_output {
  vec<T, 3>* forces = nullptr;  ///< by point
  T* potentials = nullptr;      ///< by point: the derivative of the energy by the charge
  T* energies = nullptr;        ///< by point: half of the energy of its pairs; their sum is the energy of the system
  double* energy = nullptr;     ///< by system
  /// By system, 9 numbers, symmetric: minus the derivative of the energy by a strain of cell and points. The stress is
  /// minus this divided by the volume; the derivative by cell vector k is minus inverse[k] times this.
  double* virial = nullptr;
};

/// The chosen parameters and their expected errors.
struct electrostatics_report {
  std::string_view method{};  ///< "spme", "esp" or "direct"
  std::string_view reason{};
  ewald_parameters parameters{};
  double neighbors = 0;          ///< expected, of a point within the cutoff
  double short_range_error = 0;  ///< predicted, in units of the reference force; of the system with the largest error
  double mesh_error = 0;
  double error = 0;  ///< of both together: at most the accuracy, unless parameters were given
  /// Predicted root mean square errors of the energies of points and of the traces of their virials (half of those of
  /// its pairs), in units of the reference energy k q^2 / d (dispersion: k c^2 / d^6). The errors of a system's energy
  /// and of each component of its virial, per point, are at most these; for charges at random places, smaller by about
  /// the root of the number of points.
  double energy_error = 0;
  double virial_error = 0;
};

/// All methods, in display order.
[[nodiscard]] std::span<const method_info> electrostatics_methods();

/// Energies, forces, potentials and virials of charges in periodic cells of any shape. Move-only. T: float or double;
/// Context: cpu_context or cuda_context. Conducting surroundings (no dipole term); the charges of a system that is not
/// neutral are balanced by a uniform background. A slab is periodic in two directions (Yeh and Berkowitz 1999, with
/// the terms for a net charge of Ballenegger, Arnold and Cerda 2009).
///
/// Sources: Essmann et al. 1995 (smooth particle-mesh Ewald, `spme`); Liang et al., arXiv 2505.09727 (prolate splitting
/// and window, `esp`); Kolafa and Perram 1992, Wang, Dommert and Holm 2010 (errors). Determinism: the context's level.
/// For an example see docs/guides/electrostatics.md.
template <typename Context, typename T>
class electrostatics {
  static_assert(detail::instance<Context, T, 3>::exists);

 public:
  /// Throws argument_error for options that are impossible.
  explicit electrostatics(const Context& context, const electrostatics_options& options = {});

  /// Chooses the parameters and makes room for these inputs. `compute` does it where it is needed: for another number
  /// of points or systems, and where cells have changed so much that the accuracy is no longer kept, or another choice
  /// is expected to be clearly faster. Waits. May allocate. Throws what compute does.
  void prepare(const electrostatics_input<T>& input);

  /// Computes the non-null arrays of `output`. Waits. May allocate. Throws argument_error for invalid input visible to
  /// the host (cells, pairs, null pointers), for an accuracy that cannot be reached in this precision (naming the
  /// least that can), and for more memory than is free; data_error naming the first point that is not finite, of no
  /// system, outside a slab, or with a charge that is not finite, and the first that coincides with another one,
  /// unless that pair is excluded. Results are then unusable. Results beyond the range of T, or of double for energies
  /// and virials, are infinite or NaN without an error, for example float forces of charges from about 1e19 at a
  /// distance of 1.
  void compute(const electrostatics_input<T>& input, const electrostatics_output<T>& output);

  /// The same with the choices and the memory of the last `prepare` or `compute`, for the same cells, scaled pairs and
  /// number of points. Does not wait. Allocates nothing. Can be captured. `check` throws the data_error of compute
  /// (with `cpu_context` this call itself throws). Throws argument_error if compute is needed first.
  ///
  /// CUDA: both parts run at the same time, one of them on a second stream, which the context's waits for. After some
  /// calls the work is replayed as a graph, whatever arrays are given.
  void compute_async(const electrostatics_input<T>& input, const electrostatics_output<T>& output);

  /// Waits. Allocates nothing. Throws the data_error of the calls since the last check.
  void check();

  /// The report of the last prepare or compute. Throws argument_error before the first.
  [[nodiscard]] const electrostatics_report& report() const;
  /// Why these parameters: the methods and orders that were compared, each with its best cutoff, by the times that the
  /// device profile predicts. Of the last choice; another call that keeps to the accuracy keeps its parameters. Throws
  /// argument_error before the first prepare or compute. Does not wait. Allocates nothing.
  [[nodiscard]] quadrat::explanation explanation() const;
  /// The short-range part of a pair, with the parameters of the last prepare or compute. Use it to sum that part over a
  /// neighbor list or your own visitor, beside sums with the part `long_range`. Throws argument_error before the first.
  [[nodiscard]] ewald_pair<T> pair() const;
  /// Bytes of the context's memory held.
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] const electrostatics_options& options() const;

 private:
  struct implementation;
  detail::pimpl<implementation> implementation_;
};

}  // namespace quadrat
