// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "contacts/engine.hpp"
#include "contacts/hashed/search.hpp"
#include "quadrat/cells/counting.hpp"
#include "quadrat/core/array.hpp"

namespace quadrat::detail {

/// Levels of cells as in `levels`, in the domain of each system, in a hash table of all: the number of kernels and the
/// memory follow the bodies, however many systems they are in, and whatever the domains. A body is looked for in 9 rows
/// of 3 cells. 72 bytes for each body in float.
template <typename Context, typename T>
class hashed_engine final : public row_engine<hashed_engine<Context, T>, Context, T> {
  using base = row_engine<hashed_engine<Context, T>, Context, T>;

 public:
  using base::base;
  static constexpr bool several_systems = true;

  [[nodiscard]] planned_bins<T> plan(const placed_bodies<Context, T>& bodies, const bin_options<T>& options) override;
  void insert(const placed_bodies<Context, T>& bodies);
  [[nodiscard]] std::size_t rows() const { return search_.count; }
  [[nodiscard]] const hashed_search<T>& search() const { return search_; }
  [[nodiscard]] std::size_t bytes() const override { return buckets_.bytes() + slots_.bytes() + names_.bytes(); }

 private:
  hashed_search<T> search_{};
  counting_buckets<Context> buckets_;
  array<placed_body<T>, Context> slots_;
  array<cell_name, Context> names_;
};

struct hashed_method : contact_method_defaults {
  static constexpr std::string_view name = "hashed";
  static constexpr std::string_view summary =
      "cells of several sizes in a hash table; serves bodies of several systems";
  static constexpr bool bins = false;
  static constexpr bool systems = true;
  template <typename Context, typename T>
  using engine = hashed_engine<Context, T>;

  [[nodiscard]] static bool serves(const pair_request&) { return true; }
  [[nodiscard]] static method_cost cost(const pair_request& request) {
    return method_cost().last_resort(request.systems ? "the only one for several systems" : "not faster than levels");
  }
};

}  // namespace quadrat::detail
