// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <numbers>

#include "cells/counting_build.hpp"
#include "distributed/mobility/waves.hpp"
#include "distributed/particles/near_block.hpp"
#include "distributed/particles/own_points.hpp"
#include "hydro/lanczos.hpp"
#include "hydro/methods.hpp"
#include "hydro/near_matrix.hpp"
#include "hydro/place.hpp"
#include "hydro/results.hpp"
#include "parallel/host_mirror.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/distributed/halo.hpp"
#include "quadrat/distributed/mobility.hpp"
#include "quadrat/parallel/fault.hpp"
#include "quadrat/parallel/workspace.hpp"

/// The members of distributed_mobility.
namespace quadrat {

template <typename Context, typename T>
struct distributed_mobility<Context, T>::implementation final : detail::lanczos_ranks<T> {
  implementation(const Context& chosen, communicator& group, const grid<T, 3>& cells, const mobility_options& wanted,
                 std::size_t number);

  void set(const decomposition<3>& shares, const points_view<T, 3>& points, const particle_id* given, T skin);
  void set_points(const points_view<T, 3>& points);
  void multiply(const vec<T, 3>* forces, vec<T, 3>* velocities);
  /// `forced`: the same on all ranks.
  void with_noise(const vec<T, 3>* forces, bool forced, const mobility_noise& noise, vec<T, 3>* velocities);
  [[nodiscard]] std::size_t bytes() const;

  [[nodiscard]] std::size_t ghosts() const override { return borders.ghosts(); }
  void fetch_ghosts(detail::sphere_vector<T>* vector) override { borders.forward(vector); }
  void add_up(double* number) override;

  Context context;
  communicator& ranks;
  grid<T, 3> space;
  mobility_options options;
  mobility_report report;
  std::size_t count;  ///< spheres of all ranks
  std::size_t own = 0;
  halo<Context, T, 3> borders;
  bool ready = false;   ///< set has been called
  bool placed = false;  ///< set_points has been called

 private:
  enum status_word : std::size_t { first_fault, needed, stored_entries, listed_pairs, no_pairs, status_words };

  void check(const decomposition<3>& shares, const points_view<T, 3>& points, const particle_id* given, T skin);
  [[nodiscard]] int find_level(const points_view<T, 3>& points);
  void choose(int wanted);
  void list_pairs();
  void take(const vec<T, 3>* forces);
  [[nodiscard]] int iterate(const mobility_noise& noise, int first, int last);
  void deliver(bool forced, const detail::lanczos_result& found, double amplitude, vec<T, 3>* velocities);
  [[nodiscard]] std::size_t with_ghosts() const { return own + borders.ghosts(); }
  /// The mobility of a free sphere.
  [[nodiscard]] double unit() const { return 1 / (6 * std::numbers::pi * options.viscosity * options.radius); }

  int level = -1;  ///< the crowding for which parameters were chosen
  int usual_iterations = 0;
  double listed = 0;
  vec<double, 3> middle{};  ///< of the block
  detail::sphere_domain<T> domain{};
  detail::near_tensor<T> law{};
  detail::sphere_boxes<T> boxes;
  counting_buckets<Context> buckets;
  detail::near_matrix<Context, T> near;
  std::unique_ptr<detail::waves_of_ranks<Context, T>> waves;
  detail::lanczos_basis<Context, T> basis;
  detail::host_mirror<Context> mirror;
  array<std::uint64_t, Context> words;
  array<std::uint32_t, Context> box_counts;
  detail::own_points_check<Context> check_own;
  array<particle_id, Context> ids;
  array<vec<T, 3>, Context> positions, near_block;
  array<detail::sphere_vector<T>, Context> places, forces_with_ghosts;
  array<T, Context> forces_by_axis, wave_velocities;
  workspace<Context> scratch;
};

}  // namespace quadrat
