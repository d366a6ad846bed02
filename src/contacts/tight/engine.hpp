// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "contacts/engine.hpp"
#include "contacts/tight/search.hpp"
#include "contacts/tight/touched.hpp"
#include "quadrat/core/array.hpp"

namespace quadrat::detail {

/// A row is a body in one of its bins.
template <typename Context, typename T>
class tight_grid_engine final : public row_engine<tight_grid_engine<Context, T>, Context, T> {
 public:
  using row_engine<tight_grid_engine<Context, T>, Context, T>::row_engine;

  [[nodiscard]] planned_bins<T> plan(const placed_bodies<Context, T>& bodies, const bin_options<T>& options) override;
  void insert(const placed_bodies<Context, T>& bodies);
  [[nodiscard]] std::size_t rows() const { return touched_.entries_M().most; }
  [[nodiscard]] tight_search<T> search() const;
  [[nodiscard]] std::size_t bytes() const override { return touched_.bytes() + masks_.bytes(); }

 private:
  grid<T, 3> space_{};
  T edge_ = T(0);
  const placed_body<T>* placed_ = nullptr;
  touched_bins<Context, T> touched_;
  array<std::uint8_t, Context> masks_;
};

struct tight_grid_method : contact_method_defaults {
  static constexpr std::string_view name = "tight_grid";
  static constexpr std::string_view summary = "a body in every cell that its box touches; pairs by the 3-bit rule";
  static constexpr bool quadratic = true;  // if bodies crowd in few cells of the domain
  template <typename Context, typename T>
  using engine = tight_grid_engine<Context, T>;

  [[nodiscard]] static method_cost cost(const pair_request& request) {
    return where_counted(request, brute_force_most_bodies, [&] { return detection_cost(request); });
  }
};

}  // namespace quadrat::detail
