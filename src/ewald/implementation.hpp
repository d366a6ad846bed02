// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "cells/counting_build.hpp"
#include "core/automatic.hpp"
#include "core/method_choice.hpp"
#include "ewald/choice/choice.hpp"
#include "ewald/crowding.hpp"
#include "ewald/domains.hpp"
#include "ewald/long_range/smooth_part.hpp"
#include "ewald/methods.hpp"
#include "ewald/place.hpp"
#include "ewald/results.hpp"
#include "ewald/scaled_pairs.hpp"
#include "ewald/short_range/short_range.hpp"
#include "parallel/host_mirror.hpp"
#include "parallel/streams/priority_stream.hpp"
#include "parallel/streams/repeated_work.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/ewald/electrostatics.hpp"
#include "quadrat/parallel/fault.hpp"
#include "quadrat/parallel/workspace.hpp"

/// The implementation of electrostatics.
namespace quadrat {

namespace detail {

inline void check_electrostatics_options(const electrostatics_options& options) {
  check_ewald_numbers(options.accuracy, options.parameters);
  require(std::isfinite(options.coulomb_constant), "Coulomb's constant is ", options.coulomb_constant,
          "; it must be finite");
}

}  // namespace detail

template <typename Context, typename T>
struct electrostatics<Context, T>::implementation {
  implementation(const Context& where, const electrostatics_options& wanted)
      : context(where), options(wanted), smooth_stream(where), faults(where) {
    detail::check_electrostatics_options(options);
    if (!detail::is_automatic(options.method)) {
      detail::require_method<detail::electrostatics_method_list>(
          {"method of electrostatics", std::is_same_v<Context, cuda_context>, where.reproducibility(), true},
          options.method);
    }
    require(options.law == pair_law::coulomb || options.method != "esp",
            "the method esp serves Coulomb's law; for 1/r^6 use spme or direct");
  }
  implementation(const implementation&) = delete;
  implementation& operator=(const implementation&) = delete;
  /// A graph runs the smooth part in the context's stream, so the order of its own does not protect its memory.
  ~implementation() { smooth_stream.join(context); }

  void prepare(const electrostatics_input<T>& input);
  void compute(const electrostatics_input<T>& input, const electrostatics_output<T>& output);
  void compute_async(const electrostatics_input<T>& input, const electrostatics_output<T>& output);
  void check();
  [[nodiscard]] ewald_pair<T> pair() const {
    return {split, options.law == pair_law::coulomb, static_cast<T>(constant())};
  }
  [[nodiscard]] quadrat::explanation explanation() const;
  [[nodiscard]] std::size_t bytes() const;

  Context context;
  electrostatics_options options;
  electrostatics_report report;
  std::vector<candidate> candidates{};  ///< of the last choice of parameters
  double expected_pairs = 0;            ///< within the cutoff, of all charges
  bool prepared = false;

 private:
  void check_input(const electrostatics_input<T>& input) const;
  /// Whether the prepared parts serve this input unchanged.
  [[nodiscard]] bool serves(const electrostatics_input<T>& input) const;
  void choose(const electrostatics_input<T>& input);
  void choose_parameters(const detail::measured_charges& measured);
  [[nodiscard]] detail::measured_charges measured(const electrostatics_input<T>& input,
                                                  const std::vector<lattice<T, 3>>& periodic) const;
  [[nodiscard]] bool still_accurate(const detail::measured_charges& measured);
  void describe_errors(const detail::ewald_errors& errors, double strictness);
  void make_room(const electrostatics_input<T>& input);
  void set_pairs(const electrostatics_input<T>& input);
  void place(const electrostatics_input<T>& input);
  void enqueue(const electrostatics_input<T>& input, const electrostatics_output<T>& output);
  /// The work between reading the input and writing the output, in own memory only.
  void add_parts(bool virial);
  void add_short_range(const detail::add_short_range<T>& task);
  void deliver(const electrostatics_output<T>& output, const detail::combine_parts<T>& combine);
  [[nodiscard]] detail::placed_charges<T> placed() const;
  [[nodiscard]] detail::charge_sums<T> pair_sums(bool virial) {
    return {potentials.data(), fields.data(), virial ? virials.data() : nullptr};
  }
  [[nodiscard]] detail::smooth_input<T> smooth_points() const;
  [[nodiscard]] std::string complaint(const fault_report& found) const;
  [[nodiscard]] bool short_range() const { return options.parts != ewald_parts::long_range; }
  [[nodiscard]] bool long_range() const { return options.parts != ewald_parts::short_range; }
  /// Whether the smooth part runs beside the pairs: its many small kernels leave most of a GPU idle.
  [[nodiscard]] bool in_two_streams() const { return options.parts == ewald_parts::both; }
  /// Whether points are put into cells: for pairs, and to group the points of each system.
  [[nodiscard]] bool uses_cells() const { return short_range() || cells.size() > 1; }
  [[nodiscard]] double constant() const {
    return options.law == pair_law::coulomb ? options.coulomb_constant : -options.coulomb_constant;
  }

  /// What add_parts depends on: all else is set by `prepare`.
  struct parts_key {
    std::uint64_t preparations;
    bool virial;
    const particle_id* ids;
    const std::uint32_t* offsets;

    [[nodiscard]] bool operator==(const parts_key&) const = default;
  };

  std::uint64_t preparations = 0;
  /// Of the smooth part, with the memory that only it uses. What both streams use belongs to the context.
  detail::priority_stream<Context> smooth_stream;
  bool chosen = false;
  bool slabs = false;
  std::size_t points = 0;
  bool given_systems = false;
  std::vector<lattice<T, 3>> cells;
  std::vector<scaled_pair> pairs;
  detail::ewald_setup setup{};
  double reach = 0;  // distance below which pairs are checked for scaling

  electrostatics_input<T> last{};  // for messages
  fault_state<Context> faults;
  detail::host_mirror<Context> mirror;
  array<detail::ewald_domain<T>, Context> domains;
  detail::ewald_domain<T> only_domain{};  // where there is one system
  double row_candidates = 0;              // expected in each row of its cells
  std::size_t cell_count = 0;
  counting_buckets<Context> buckets;
  array<detail::placed_charge<T>, Context> charges_by_cell;
  array<vec<T, 3>, Context> fractions;
  array<T, Context> charges;
  array<particle_id, Context> own_order;  // without cells: the points' own
  array<std::uint32_t, Context> system_of;
  array<std::uint32_t, Context> slots;
  array<std::uint32_t, Context> partner_offsets;
  array<detail::scaled_partner<T>, Context> partners;
  std::unique_ptr<detail::smooth_part<Context, T>> smooth;
  detail::split_polynomial<T> split{};
  T self = T(0);
  array<T, Context> potentials, smooth_potentials, zero_potentials, virials;
  array<vec<T, 3>, Context> fields, smooth_gradients;
  array<vec<double, 6>, Context> smooth_virials;
  array<vec<double, 3>, Context> slab_sums;
  array<vec<double, 4>, Context> net_forces;
  array<vec<double, 7>, Context> totals;
  workspace<Context> scratch, scratch_of_parts;
  detail::repeated_work<Context, parts_key> repeated_parts;
};

}  // namespace quadrat
