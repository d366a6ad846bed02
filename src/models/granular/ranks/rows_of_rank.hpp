// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "models/granular/engine.hpp"
#include "models/granular/kept_rows.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/parallel/workspace.hpp"

namespace quadrat::detail {

/// On CPUs: rows of near grains, as in `listed`, for the own grains of a rank among own grains and ghosts. Rows serve
/// until a grain or ghost has moved by half of their skin. This skin differs from that of the ghosts, because wide
/// skins choose ghosts more rarely but make rows longer.
template <typename T>
class rows_of_rank {
 public:
  explicit rows_of_rank(const granular_setup<T>& setup);

  /// The distance up to which rows have grains.
  [[nodiscard]] static T reach(const granular_setup<T>& setup) {
    return static_cast<T>(1 + kept_rows<T>::skin) * setup.law.diameter;
  }

  /// Call it when other grains have arrived, or grains have other places.
  void forget() {
    made_ = false;
    crowded_ = false;
  }
  /// Call it before each step. Returns whether there are rows that serve `all` grains (own grains first), which have
  /// moved by at most `move` since the last call.
  [[nodiscard]] bool serve(const cpu_context& context, const packed_record<T, 3>* positions, std::size_t all,
                           double move);
  /// Whether rows pay if the fastest own grain moves by `move` per step, and ghosts are kept for this many
  /// steps.
  [[nodiscard]] bool worth(double move, std::size_t steps) const;
  /// Makes rows by a cell list of all grains. Returns false if grains are too crowded; then rows no longer pay.
  [[nodiscard]] bool make(const cpu_context& context, const typename row_lists<T>::cells_view& cells,
                          const grain_records<T>& grains, std::size_t own, std::size_t all);
  [[nodiscard]] rows_view<T> view() const { return lists_.view(); }
  [[nodiscard]] std::size_t bytes() const { return lists_.bytes() + homes_.bytes() + scratch_.bytes(); }

 private:
  T reach_;
  double limit_;  ///< of the distance from homes
  row_lists<T> lists_;
  array<packed_record<T, 3>, cpu_context> homes_;  ///< of all grains, when rows were made
  workspace<cpu_context> scratch_;
  std::size_t own_ = 0;
  double moved_ = 0;  ///< bound on the distance of own grains from their homes
  bool made_ = false, crowded_ = false;
};

struct no_rows {
  template <typename Setup>
  explicit no_rows(const Setup& /*setup*/) {}
  template <typename T>
  [[nodiscard]] static T reach(const granular_setup<T>& setup) {
    return setup.law.diameter;
  }
  static void forget() {}
  [[nodiscard]] static std::size_t bytes() { return 0; }
};

}  // namespace quadrat::detail
