// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "quadrat/core/error.hpp"
#include "quadrat/distributed/communicator.hpp"
#include "quadrat/models/distributed_model.hpp"

/// The part of the models over ranks that is common to all models.
namespace quadrat::detail {

/// One rank's part of a simulation. `Whole`: the model on one rank. All calls that are not const are collective.
template <typename Whole>
class model_share {
 public:
  using state_type = typename distributed_model<Whole>::state_type;
  using statistics_type = typename distributed_model<Whole>::statistics_type;

  model_share() = default;
  model_share(const model_share&) = delete;
  model_share& operator=(const model_share&) = delete;
  virtual ~model_share() = default;

  /// Begins with the checked state that ranks give: ids in order of rank. The step is that of rank 0.
  virtual void set(const state_type& state) = 0;
  /// See distributed_model.
  virtual int advance(std::size_t steps, const std::function<int()>& wish) = 0;
  /// Throws on all ranks the data_error of the model on one rank.
  virtual void check() = 0;
  /// On rank 0 the state of all particles.
  [[nodiscard]] virtual state_type gather() = 0;
  /// The measurements that all ranks make together; none: the model of one rank measures.
  [[nodiscard]] virtual std::optional<statistics_type> measure() = 0;
  /// Corrects statistics that a restored model cannot know.
  virtual void amend(statistics_type& result) const = 0;

  [[nodiscard]] virtual std::uint64_t step() const = 0;
  [[nodiscard]] virtual std::size_t own() const = 0;
  [[nodiscard]] virtual rank_report report() const = 0;
  [[nodiscard]] virtual std::size_t bytes() const = 0;
};

/// The parts of a model over ranks. Rank 0 has the model of one rank, if there is one; otherwise ranks give the
/// start.
template <typename Whole>
struct parts_of_model {
  typename distributed_model<Whole>::options_type options{};
  std::size_t size = 0;
  std::unique_ptr<model_share<Whole>> share{};
  std::unique_ptr<Whole> whole{};
  typename distributed_model<Whole>::state_type start{};
};

/// The model of one rank, if only rank 0 gives particles, `given` of them. `start`: its constructor's arguments.
template <typename Whole, typename... Start>
[[nodiscard]] std::unique_ptr<Whole> whole_on_rank_0(const communicator& ranks, std::string_view particles,
                                                     std::size_t given, const Start&... start) {
  require(ranks.rank() == 0 || given == 0, "rank ", ranks.rank(), " gives ", given, " ", particles,
          "; only rank 0 may");
  return ranks.rank() == 0 ? std::make_unique<Whole>(start...) : nullptr;
}

}  // namespace quadrat::detail

namespace quadrat {

template <typename Whole>
struct distributed_model<Whole>::implementation : detail::parts_of_model<Whole> {
  implementation(const context_type& chosen, communicator& group, detail::parts_of_model<Whole>&& parts)
      : detail::parts_of_model<Whole>(std::move(parts)), context(chosen), ranks(group) {}

  context_type context;
  communicator& ranks;
  bool present = false;  ///< whether the model of one rank has the state of this step

  /// Begins with the state of the model of one rank; if there is none, with the state that ranks give.
  void set(const state_type& given) {
    state_type state;
    together(ranks, [&] {
      if (this->whole != nullptr) state = this->whole->state();
    });
    const bool has_whole = all_values(ranks, this->whole != nullptr ? 1 : 0)[0] != 0;
    this->share->set(has_whole ? state : given);
    present = true;
  }
};

template <typename Whole>
distributed_model<Whole>::distributed_model(const context_type& context, communicator& ranks,
                                            detail::parts_of_model<Whole>&& parts)
    : implementation_(std::make_unique<implementation>(context, ranks, std::move(parts))) {
  implementation_->set(std::exchange(implementation_->start, {}));
}

template <typename Whole>
void distributed_model<Whole>::advance(std::size_t steps) {
  static_cast<void>(advance(steps, [] { return 0; }));
}

template <typename Whole>
int distributed_model<Whole>::advance(std::size_t steps, const std::function<int()>& wish) {
  if (steps > 0) implementation_->present = false;
  return implementation_->share->advance(steps, wish);
}

template <typename Whole>
void distributed_model<Whole>::check() {
  implementation_->share->check();
}

template <typename Whole>
Whole* distributed_model<Whole>::whole() {
  check();
  implementation& self = *implementation_;
  if (!self.present) {
    const state_type state = self.share->gather();
    together(self.ranks, [&] {
      if (self.whole != nullptr) self.whole->restore(state);
    });
    self.present = true;
  }
  return self.whole.get();
}

template <typename Whole>
auto distributed_model<Whole>::measure() -> statistics_type {
  check();
  implementation& self = *implementation_;
  if (auto measured = self.share->measure()) return *measured;
  Whole* const all = whole();
  statistics_type result{};
  together(self.ranks, [&] {
    if (all == nullptr) return;
    result = all->measure();
    self.share->amend(result);
  });
  return all_values(self.ranks, result)[0];
}

template <typename Whole>
auto distributed_model<Whole>::state() -> state_type {
  check();
  return implementation_->share->gather();
}

template <typename Whole>
void distributed_model<Whole>::restore(const state_type& state) {
  implementation& self = *implementation_;
  self.present = false;
  together(self.ranks, [&] {
    if (self.whole != nullptr) self.whole->restore(state);
  });
  self.set(state);
}

template <typename Whole>
std::uint64_t distributed_model<Whole>::step() const {
  return implementation_->share->step();
}
template <typename Whole>
std::size_t distributed_model<Whole>::size() const {
  return implementation_->size;
}
template <typename Whole>
std::size_t distributed_model<Whole>::own() const {
  return implementation_->share->own();
}
template <typename Whole>
std::vector<rank_report> distributed_model<Whole>::report() {
  return all_values(implementation_->ranks, implementation_->share->report());
}
template <typename Whole>
std::size_t distributed_model<Whole>::bytes() const {
  const implementation& self = *implementation_;
  return self.share->bytes() + (self.whole == nullptr ? 0 : self.whole->bytes());
}
template <typename Whole>
auto distributed_model<Whole>::options() const -> const options_type& {
  return implementation_->options;
}
template <typename Whole>
auto distributed_model<Whole>::context() const -> const context_type& {
  return implementation_->context;
}

}  // namespace quadrat
