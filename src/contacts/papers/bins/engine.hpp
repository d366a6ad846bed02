// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "contacts/engine.hpp"
#include "contacts/papers/bins/search.hpp"
#include "contacts/tight/touched.hpp"
#include "core/paper_methods.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/parallel/workspace.hpp"

namespace quadrat::detail {

/// The nine stages of parallel-binning-collision, with the paper's names of arrays. A row is a bin.
template <typename Context, typename T>
class bins_engine final : public contact_engine<Context, T> {
 public:
  using contact_engine<Context, T>::contact_engine;

  [[nodiscard]] planned_bins<T> plan(const placed_bodies<Context, T>& bodies, const bin_options<T>& options) override;
  void find_contacts(contact_task<Context, T>& task) override;
  void find_pairs(const pair_task<Context, T>& task) override;
  [[nodiscard]] std::size_t bytes() const override;
  void insert(const placed_bodies<Context, T>& bodies);
  [[nodiscard]] std::size_t rows() const { return space_.size(); }
  [[nodiscard]] bins_search<T> search() const;

 private:
  void count_bodies_of_bins(std::size_t count);

  grid<T, 3> space_{};
  T edge_ = T(0);
  bool balanced_ = true;
  const placed_body<T>* placed_ = nullptr;
  touched_bins<Context, T> touched_;
  array<std::uint32_t, Context> first_of_bin_;
  array<std::uint32_t, Context> bodies_of_C_[2];  // keys
  array<cell_id, Context> bin_of_C_[2];
  int current_C_ = 0;
  workspace<Context> scratch_;
};

struct bins_method : contact_method_defaults, paper_method {
  static constexpr std::string_view name = "bins";
  static constexpr std::string_view summary =
      "nine stages: bodies in all bins they touch, a thread per bin (parallel-binning-collision, 12-34)";
  static constexpr std::string_view limits =
      "decides by contacts which bin a pair belongs to; it cannot find pairs of boxes";
  static constexpr bool balances = true;
  static constexpr bool quadratic = true;  // like tight_grid
  template <typename Context, typename T>
  using engine = bins_engine<Context, T>;

  [[nodiscard]] static constexpr bool serves(const pair_request& request) { return !request.boxes && !request.systems; }
};

}  // namespace quadrat::detail
