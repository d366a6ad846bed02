// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "contacts/levels/one_cell.hpp"

namespace quadrat::detail {

/// Levels from plan_levels. On CUDA, spheres alone and ellipsoids alone have a direct search (levels/cuda).
template <typename Context, typename T>
class levels_engine final : public one_cell_engine<Context, T> {
 public:
  explicit levels_engine(const Context& context);

  [[nodiscard]] planned_bins<T> plan(const placed_bodies<T>& bodies, const bin_options<T>& options) override;
  [[nodiscard]] direct_search<Context, T>* direct() override { return direct_.get(); }
  [[nodiscard]] std::size_t bytes() const override;

 private:
  std::unique_ptr<direct_search<Context, T>> direct_;
};

struct levels_record : pair_record {
  static constexpr std::string_view name = "levels";
  static constexpr std::string_view summary = "grids of several sizes, a body in one cell of the one that fits it";
  template <typename Context, typename T>
  using engine = levels_engine<Context, T>;

  [[nodiscard]] static method_cost cost(const pair_request& request) {
    const method_cost cost = detection_cost(request);
    // A GPU finds contacts directly from the caller's bodies, unless it has to look where they are before.
    return request.cuda ? method_cost(cost).each("open", cost_unit::launch, request.known_domain ? 0 : 1) : cost;
  }
};

}  // namespace quadrat::detail
