// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <numbers>
#include <string>

#include "cells/counting_build.hpp"
#include "hydro/choice.hpp"
#include "hydro/lanczos.hpp"
#include "hydro/near_matrix.hpp"
#include "hydro/wave_part.hpp"
#include "parallel/host_mirror.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/hydro/mobility.hpp"
#include "quadrat/parallel/fault.hpp"
#include "quadrat/parallel/workspace.hpp"

/// The implementation of mobility.
namespace quadrat {

template <typename Context, typename T>
struct mobility<Context, T>::implementation {
  implementation(const Context& where, const vec<T, 3>& extents, const mobility_options& wanted);

  void prepare(std::size_t wanted_count);
  void set_points(const points_view<T, 3>& points);
  void multiply(const vec<T, 3>* forces, vec<T, 3>* velocities);
  /// `forces` may be nullptr: none.
  void with_noise(const vec<T, 3>* forces, const mobility_noise& noise, vec<T, 3>* velocities);
  [[nodiscard]] std::size_t bytes() const;

  Context context;
  mobility_options options;
  mobility_report report;
  bool prepared = false;
  bool has_points = false;
  std::size_t count = 0;

 private:
  /// Words that one copy brings to the host after points are placed.
  enum status_word : std::size_t { first_fault, needed, stored_entries, listed_pairs, box_pairs, status_words };

  void choose(int level);
  void make_room();
  void place(const points_view<T, 3>& points);
  void measure(const detail::given_spheres<T>& given);
  [[nodiscard]] std::string complaint(const points_view<T, 3>& points, const fault_report& found) const;
  void require_points() const;
  void require_allowed() const;
  void gather(const vec<T, 3>* forces);
  [[nodiscard]] int iterate(const mobility_noise& noise, int first, int last);
  void deliver(bool forced, const detail::lanczos_result& found, double amplitude, vec<T, 3>* velocities);
  [[nodiscard]] const particle_id* ids() const { return buckets.view().elements; }
  [[nodiscard]] detail::placed_spheres<T> spheres() const {
    return {{domain, buckets.view().offsets, places.data()}, count};
  }
  [[nodiscard]] bool krylov() const { return report.method == "krylov"; }
  /// The mobility of a free sphere.
  [[nodiscard]] double unit() const { return 1 / (6 * std::numbers::pi * options.viscosity * options.radius); }

  vec<T, 3> box;
  int level = -1;  // of crowding; parameters depend on box, count and level only, not on earlier points
  int usual_iterations = 0;
  detail::sphere_domain<T> domain{};
  detail::near_tensor<T> law{};
  detail::sphere_boxes<T> boxes{};
  counting_buckets<Context> buckets;
  array<detail::sphere_vector<T>, Context> places;
  array<std::uint32_t, Context> box_counts;
  array<std::uint64_t, Context> status;
  detail::host_mirror<Context> mirror;
  detail::near_matrix<Context, T> near;
  std::unique_ptr<detail::wave_part<Context, T>> waves;
  detail::lanczos_basis<Context, T> basis;
  array<detail::sphere_vector<T>, Context> forces_by_slot;
  array<T, Context> forces_by_axis;
  array<T, Context> wave_velocities;
  workspace<Context> scratch;
};

}  // namespace quadrat
