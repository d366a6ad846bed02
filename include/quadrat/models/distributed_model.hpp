// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "quadrat/core/context.hpp"
#include "quadrat/core/pimpl.hpp"
#include "quadrat/distributed/communicator.hpp"
#include "quadrat/models/rank_report.hpp"

namespace quadrat {

namespace detail {
template <typename Whole>
struct parts_of_model;
}

/// The base of the models over ranks. Each rank takes the steps of the particles of its block. `Whole` is the
/// model on one rank: granular, granular_friction, circles, srd, electrolyte or brownian. Rank 0 has it as well, starts
/// the run with it and measures with it, and so needs memory for all particles; only the ranks of granular start and
/// measure together. Move-only. All calls that are not const are collective, and synchronize.
template <typename Whole>
class distributed_model {
 public:
  using whole_type = Whole;
  using state_type = decltype(std::declval<Whole&>().state());
  using statistics_type = decltype(std::declval<Whole&>().measure());
  using options_type = std::remove_cvref_t<decltype(std::declval<const Whole&>().options())>;
  using context_type = std::remove_cvref_t<decltype(std::declval<const Whole&>().context())>;

  /// Takes time steps. Never throws for bad data: see check.
  void advance(std::size_t steps);
  /// The same, but all ranks stop together after the first step at which wish() is nonzero on some rank. wish() is
  /// called once per step, and its value is sent with the record of the step. Returns the largest such value, or 0.
  int advance(std::size_t steps, const std::function<int()>& wish);
  /// Throws on all ranks the same data_error as the model on one rank if the run blew up. The run has then ended:
  /// `step` is the step of the fault, and `advance` takes no steps until a state is restored.
  void check();
  /// The next functions throw what check throws. On rank 0 the model of one rank, with the state of this step, for its
  /// measurements; nullptr on others. Only read it, and only until the next call.
  [[nodiscard]] Whole* whole();
  /// The measurements of the model, on all ranks.
  [[nodiscard]] statistics_type measure();
  /// On rank 0 the state of all particles; on others an empty one. A state of any number of ranks, or of the model on
  /// one rank, can be restored on any other.
  [[nodiscard]] state_type state();
  /// Restores the state of rank 0 (ignores others). Throws, on all ranks, what the model on one rank throws.
  void restore(const state_type& state);

  [[nodiscard]] std::uint64_t step() const;
  /// The number of particles of all ranks, and of this one.
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] std::size_t own() const;
  /// The reports of all ranks, on all ranks.
  [[nodiscard]] std::vector<rank_report> report();
  /// Bytes of the context's memory in use on this rank.
  [[nodiscard]] std::size_t bytes() const;
  /// The options in use, with defaults filled in.
  [[nodiscard]] const options_type& options() const;
  [[nodiscard]] const context_type& context() const;

 protected:
  struct implementation;
  distributed_model(const context_type& context, communicator& ranks, detail::parts_of_model<Whole>&& parts);

  detail::pimpl<implementation> implementation_;
};

}  // namespace quadrat
