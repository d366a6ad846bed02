// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "quadrat/contacts/shapes.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/pimpl.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"

/// Grains with friction: the soft-sphere discrete element method, in SI units. Grains are spheres of any radii and
/// walls are planes and meshes of triangles, each of one of the materials. Two bodies touch if their distance is
/// strictly below the sum of their radii. With the overlap d, the unit vector n from j to i, 1/R* = 1/R_i + 1/R_j, 1/m*
/// = 1/m_i + 1/m_j, the normal and tangential velocity v_n, v_t of i relative to j at the contact point (in the middle
/// of the overlap, rotation included), the force on i is
///
///   normal      F_n = s S_n d n - g b_n sqrt(S_n m*) v_n, only where it repels
///   tangential  F_t = -S_t xi - g b sqrt(S_t m*) v_t, shortened to mu |F_n|
///
/// Hertz (Tsuji and others 1992; Di Renzo, Di Maio 2004; Antypov, Elliott 2011): S_n = 2 E* sqrt(R* d), s = 2/3,
/// S_t = 8 G* sqrt(R* d), g = 2 sqrt(5/6), 1/E* = (1 - nu_i^2) / E_i + (1 - nu_j^2) / E_j,
/// 1/G* = 2 (2 - nu_i) (1 + nu_i) / E_i + 2 (2 - nu_j) (1 + nu_j) / E_j.
/// Linear: S_n and S_t are given for each material; between two, 2 / S = 1 / S_i + 1 / S_j; s = 1,
/// g = 2.
///
/// Damping follows from the restitution e: b = -ln e / sqrt(ln^2 e + pi^2), and b_n is chosen such that a head-on pair
/// separates with e times its speed, at any speed (contact_damping). If the normal force may pull, b_n = b. If not, a
/// contact ends earlier, when the force is zero, and b_n solves e = exp(-2 b_n acos(b_n) / sqrt(1 - b_n^2)), or e =
/// exp(-2 b_n arcosh(b_n) / sqrt(b_n^2 - 1)) beyond b_n = 1. The formulas of the linear spring also hold for Hertz: in
/// y = d^(5/4), the motion is that of a linear oscillator (Antypov, Elliott 2011).
///
/// xi is the tangential displacement since the contact began. It rotates with the contact. If the contact slides, it is
/// shortened to what friction can hold. While the contact is compressed further, it shrinks in proportion to 1 / S_t,
/// which leaves the tangential force unchanged: otherwise energy would be created (Elata, Berryman 1996; Thornton,
/// Cummins, Cleary 2013).
///
/// Rolling resistance (Ai and others 2011) is, for rolling_resistance::constant, a torque mu_r |F_n| R* against the
/// relative angular velocity w, limited so that it does not reverse that within a step. For ::sds (spring, dashpot,
/// slider: `rolling sds` of LAMMPS; without damping, EPSD2 of LIGGGHTS) it is
///
///   torque      T_r = -R* (S_t x + 2 eta sqrt(S_t M) R* w_r), shortened to mu_r |F_n| R*
///
/// where w_r is w without its part along n, x the integral of R* w_r since the contact began, shortened as xi is, and
/// M = 7/2 / (R*^2 (1 / I_i + 1 / I_j)) with the moments of inertia I. A grain on an incline below the angle mu_r
/// rests. Twisting resistance is a torque mu_t |F_n| R* against the part of w along n, limited likewise.
///
/// Cohesion (SJKR of LIGGGHTS) adds an attraction k 2 pi R* d: k by the area of the disc in which two spheres overlap,
/// to first order in d / R*. It does not change |F_n| in the bounds above. Two Hertzian bodies then pull apart with at
/// most (2/3) (pi k)^3 R*^2 / E*^2.
///
/// Time steps are leapfrog: velocities lag positions by half a step. Each step solves for the effect of damping on the
/// relative velocity of a pair in that half step, so damping is second-order accurate.
namespace quadrat {

/// The stiffness law of contacts.
enum class contact_stiffness {
  hertz,  ///< from the elastic constants of the material, growing with the overlap
  linear  ///< constant springs
};

/// The choice of the damping of the normal force.
enum class contact_damping {
  exact,   ///< a head-on pair separates with the restitution
  formula  ///< b_n = b always, as in other programs: if the force may not pull, pairs separate faster, with
           ///< 0.25 times their speed for e = 0.1, 0.40 for 0.3, 0.55 for 0.5, 0.81 for 0.8
};

/// Names, in the order of the enumeration.
inline constexpr std::array<std::string_view, 2> contact_damping_names{"exact", "formula"};

/// How a contact resists rolling.
enum class rolling_resistance {
  constant,  ///< by a constant torque
  sds        ///< by a spring, a dashpot and a slider
};

/// Names, in the order of the enumeration.
inline constexpr std::array<std::string_view, 2> rolling_resistance_names{"constant", "sds"};

/// A material of grains and walls, with the values of contacts within it. The defaults are glass, softened a
/// thousandfold, as is usual, for longer time steps.
struct granular_material {
  double density = 2500;           ///< kg / m^3
  double young_modulus = 6.5e7;    ///< E, Pa; for Hertz
  double poisson_ratio = 0.25;     ///< nu; for Hertz
  double restitution = 0.8;        ///< e, above 0 and at most 1; see contact_damping
  double friction = 0.5;           ///< mu
  double rolling_friction = 0;     ///< mu_r
  double rolling_damping = 0;      ///< eta, a share of the critical damping; for rolling_resistance::sds
  double twisting_friction = 0;    ///< mu_t
  double cohesion = 0;             ///< k, Pa
  double normal_spring = 1e4;      ///< S_n, N / m; for linear springs
  double tangential_spring = 8e3;  ///< S_t, N / m; for linear springs
};

/// The values of contacts between two materials. Those that are left out are the geometric means of the values of the
/// two materials.
struct granular_material_pair {
  std::size_t first = 0;  ///< a number of a material, from 0
  std::size_t second = 0;
  std::optional<double> restitution{};
  std::optional<double> friction{};
  std::optional<double> rolling_friction{};
  std::optional<double> rolling_damping{};
  std::optional<double> twisting_friction{};
  std::optional<double> cohesion{};
};

/// The most materials that a simulation can have.
inline constexpr std::size_t most_granular_materials = 256;

/// A hole in a wall.
struct round_opening {
  std::array<double, 3> center{};  ///< projected onto the plane
  double radius = 0;               ///< at least that of the largest grain
};

/// A wall: a plane. Without an opening everything behind it is solid. With one it is a thin plate that acts on both
/// sides, and grains pass through the opening.
struct granular_wall {
  std::array<double, 3> point{};          ///< anywhere on the plane
  std::array<double, 3> normal{0, 1, 0};  ///< toward the grains, of any length but 0
  std::optional<round_opening> opening{};
  std::size_t material = 0;  ///< its number
};

/// The six faces of a box, solid outside, of material 0.
[[nodiscard]] std::vector<granular_wall> walls_of_box(const std::array<double, 3>& lower,
                                                      const std::array<double, 3>& upper);

/// The most walls that a simulation can have.
inline constexpr std::size_t most_granular_walls = 32;

/// A wall of triangles, solid on both sides. mesh_contact_detector says where grains touch it.
struct granular_mesh {
  std::vector<vec<double, 3>> vertices{};
  std::vector<vec<std::uint32_t, 3>> triangles{};
  std::size_t material = 0;  ///< its number
};

/// In contacts of a state, triangle t, of those of all meshes in order, has the id first_granular_triangle + t.
inline constexpr particle_id first_granular_triangle = first_plane + static_cast<particle_id>(most_granular_walls);

struct granular_friction_options {
  contact_stiffness stiffness = contact_stiffness::hertz;
  granular_material material{};                          ///< number 0
  std::vector<granular_material> further_materials{};    ///< numbers 1, 2, ...
  std::vector<granular_material_pair> material_pairs{};  ///< where geometric means do not hold; each pair once
  rolling_resistance rolling = rolling_resistance::constant;
  contact_damping damping = contact_damping::exact;
  bool attraction = false;  ///< whether damping may make the normal force attractive as a contact ends
  std::array<double, 3> gravity{0, -9.81, 0};  ///< m / s^2
  /// The region of most grains, in m, used to sort them. Grains may be anywhere that the walls allow.
  std::array<double, 3> lower{-1, -1, -1};
  std::array<double, 3> upper{1, 1, 1};
  std::vector<granular_wall> walls{};
  std::vector<granular_mesh> meshes{};
  double time_step = 0;  ///< s; 0: a tenth of longest_granular_time_step
  double skin = 0;       ///< m, see granular_friction; 0: a fifth of the mean radius
};

/// Grains at rest in a region, not touching.
struct granular_fill {
  std::size_t count = 0;
  double smallest_radius = 0;     ///< radii are uniform from here
  double largest_radius = 0;      ///< to here
  std::array<double, 3> lower{};  ///< of the region
  std::array<double, 3> upper{};
  std::array<double, 3> down{0, -1, 0};  ///< layers are filled upward along the nearest axis
  double jitter = 0.1;                   ///< largest random displacement of a coordinate, in largest radii
  std::uint64_t seed = 1;
  std::vector<std::uint32_t> materials{};  ///< each grain draws one of these; empty: all are of material 0
};

struct granular_filling {
  std::vector<double> radii{};
  std::vector<vec<double, 3>> positions{};
  std::vector<std::uint32_t> materials{};  ///< empty: all are of material 0
};

/// The number of grains that fit in the region.
[[nodiscard]] std::size_t room_of(const granular_fill& fill);

/// Grains on a lattice with room for the largest grains and the jitter, identical on every platform. Throws
/// argument_error for radii that are not positive or not in order, and for a region that is not finite or cannot hold
/// the grains (saying how many it would hold).
[[nodiscard]] granular_filling filled_region(const granular_fill& fill);

/// The time step beyond which contacts would be unstable. Hertz: the time of a Rayleigh wave across the smallest grain,
/// pi R sqrt(density / G) / (0.1631 nu + 0.8766), G = E / (2 + 2 nu). Linear: a fifth of the contact time of two of the
/// smallest grains without damping, with the stiffer of the two springs. If b_n is above 1 (contact_damping exact and a
/// restitution below 0.135), that time divided by b_n. The least of these over all pairs of materials.
[[nodiscard]] double longest_granular_time_step(const granular_friction_options& options, double smallest_radius);

/// Sums and extremes over all grains at one step, in SI units.
struct granular_friction_statistics {
  std::uint64_t step = 0;
  double time = 0;
  double kinetic_energy = 0;         ///< of translation
  double rotational_energy = 0;      ///< kinetic energy of rotation
  double elastic_energy = 0;         ///< in the normal and tangential springs of all contacts
  double gravitational_energy = 0;   ///< zero at the lower corner of options().lower, upper
  double mean_height = 0;            ///< mean distance from that corner, measured against gravity; 0 without gravity
  double contacts_per_particle = 0;  ///< mean number of other grains that touch
  double largest_overlap = 0;        ///< of a contact, divided by the radius of its smaller grain
  double max_speed = 0;
  std::uint64_t passed = 0;    ///< grains whose center is behind a wall with an opening
  std::uint64_t rebuilds = 0;  ///< of the neighbor list, since construction
};

/// The history of a contact. Body `second` is a grain, wall k as first_plane + k, or a triangle. Contacts of two grains
/// are stored twice, once with each as the first; the two displacements are opposite, to rounding.
template <typename T>
struct granular_contact_memory {
  particle_id first;
  particle_id second;
  vec<T, 3> displacement;  ///< xi
  T scale;                 ///< sqrt(R* d), or 1 for linear springs, in the last step
  vec<T, 3> rolling{};     ///< x; 0 without rolling_resistance::sds
};

/// The complete state, on the host: the contents of a checkpoint. Restored to a simulation with the same options, radii
/// and materials on the same device, a run continues with the same bits.
template <typename T>
struct granular_friction_state {
  std::uint64_t step = 0;
  std::vector<vec<T, 3>> positions{};                  ///< by particle id
  std::vector<vec<T, 3>> remainders{};                 ///< the parts of positions below their rounding, by particle id
  std::vector<vec<T, 3>> velocities{};                 ///< half a step before the positions, by particle id
  std::vector<vec<T, 3>> angular_velocities{};         ///< likewise
  std::vector<vec<T, 3>> listed_positions{};           ///< at which the list was built, by particle id
  std::vector<granular_contact_memory<T>> contacts{};  ///< by (first, second)
};

/// A simulation: owns the grains in the memory of its context. Move-only. T: float or double; Context: cpu_context or
/// cuda_context.
///
/// Each grain adds up the forces of its row of a neighbor list, so that every contact is computed from both sides. The
/// list holds pairs up to the sum of their radii and a skin; it is rebuilt, with grains sorted by cell, when a grain
/// has moved by half of the skin. Cells are as large as two of the largest grains: the model is meant for mild size
/// ratios (1:5). It also holds the triangles of meshes as near. Where a contact with a triangle begins as another of
/// the same grain ends, with about the same normal, it takes over its history: that of a grain that rolls over a flat
/// floor goes on, whatever its triangles.
///
/// Determinism: the same bits in every run and with any number of threads, whatever the context requires.
template <typename Context, typename T>
class granular_friction {
  static_assert(detail::instance<Context, T>::exists);

 public:
  /// Grains, by radii (one, or one each), positions, velocities and angular velocities (empty: at rest), and numbers of
  /// materials (empty: all 0). Copies from the host and synchronizes. Throws argument_error for impossible options,
  /// radii, materials and counts, and a time step above longest_granular_time_step; data_error for a grain with a
  /// number that is not finite, or with its center behind a wall (naming the first), and for meshes as
  /// mesh_contact_detector (naming the first mesh and triangle).
  granular_friction(const Context& context, const granular_friction_options& options, std::span<const double> radii,
                    std::span<const vec<double, 3>> positions, std::span<const vec<double, 3>> velocities = {},
                    std::span<const vec<double, 3>> angular_velocities = {},
                    std::span<const std::uint32_t> materials = {});

  /// Takes time steps. Enqueues some at a time (on CUDA as a captured graph). Waits for them, to rebuild the neighbor
  /// list if necessary. May allocate. Never throws for bad data: see check.
  void advance(std::size_t steps);

  /// Waits. Allocates nothing. Throws data_error if the run blew up, naming step and grain: a velocity that is not
  /// finite, a move by more than half a radius within one step, or a push into a wall by more than half a radius. The
  /// simulation then stays invalid until restore.
  void check();

  /// The next functions wait, and may allocate. They throw what check throws. Velocities are at the time of the
  /// positions.
  [[nodiscard]] granular_friction_statistics measure();
  /// By particle id.
  [[nodiscard]] std::vector<vec<T, 3>> positions();
  [[nodiscard]] std::vector<vec<T, 3>> velocities();
  [[nodiscard]] std::vector<vec<T, 3>> angular_velocities();
  [[nodiscard]] granular_friction_state<T> state();

  /// Restores a state. Waits. May allocate. Throws argument_error if counts differ, or a contact names a body that does
  /// not exist or occurs twice; data_error as the constructor.
  void restore(const granular_friction_state<T>& state);

  /// Number of steps taken, counted from the step of a restored state.
  [[nodiscard]] std::uint64_t step() const;
  [[nodiscard]] std::size_t size() const;
  /// The radii, by particle id.
  [[nodiscard]] const std::vector<T>& radii() const;
  /// The numbers of their materials, by particle id.
  [[nodiscard]] const std::vector<std::uint32_t>& materials() const;
  /// Bytes of the context's memory in use.
  [[nodiscard]] std::size_t bytes() const;
  /// The options in use, with defaults filled in.
  [[nodiscard]] const granular_friction_options& options() const;
  [[nodiscard]] const Context& context() const;

 private:
  struct implementation;
  detail::pimpl<implementation> implementation_;
};

}  // namespace quadrat
