// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "quadrat/distributed/communicator.hpp"
#include "quadrat/models/distributed_model.hpp"

/// The models over ranks, but for what makes one model different from another.
namespace quadrat::detail {

/// One rank's part of a simulation. `Whole`: the model on one rank. All calls but those that are const are collective.
template <typename Whole>
class model_share {
 public:
  using state_type = typename distributed_model<Whole>::state_type;
  using statistics_type = typename distributed_model<Whole>::statistics_type;

  model_share() = default;
  model_share(const model_share&) = delete;
  model_share& operator=(const model_share&) = delete;
  virtual ~model_share() = default;

  /// Begins with the checked state that rank 0 gives.
  virtual void set(const state_type& state) = 0;
  /// See distributed_model.
  virtual int advance(std::size_t steps, const std::function<int()>& wish) = 0;
  /// Throws on all ranks the data_error of the model on one rank.
  virtual void check() = 0;
  /// On rank 0 the state of all.
  [[nodiscard]] virtual state_type gather() = 0;
  /// Corrects what a restored model cannot know.
  virtual void amend(statistics_type& /*result*/) const {}

  [[nodiscard]] virtual std::uint64_t step() const = 0;
  [[nodiscard]] virtual std::size_t own() const = 0;
  [[nodiscard]] virtual rank_report report() const = 0;
  [[nodiscard]] virtual std::size_t bytes() const = 0;
};

}  // namespace quadrat::detail

namespace quadrat {

template <typename Whole>
struct distributed_model<Whole>::implementation {
  implementation(const context_type& chosen, communicator& group, const options_type& completed, std::size_t count,
                 std::unique_ptr<detail::model_share<Whole>> own, std::unique_ptr<Whole> all)
      : context(chosen), ranks(group), options(completed), size(count), share(std::move(own)), whole(std::move(all)) {}

  context_type context;
  communicator& ranks;
  options_type options;
  std::size_t size;
  std::unique_ptr<detail::model_share<Whole>> share;
  std::unique_ptr<Whole> whole;  ///< on rank 0
  bool present = false;          ///< whether it has the state of this step

  void set() {
    state_type state;
    together(ranks, [&] {
      if (whole != nullptr) state = whole->state();
    });
    share->set(state);
    present = true;
  }
};

template <typename Whole>
distributed_model<Whole>::distributed_model(std::unique_ptr<implementation> made) : implementation_(std::move(made)) {
  implementation_->set();
}
template <typename Whole>
distributed_model<Whole>::distributed_model(distributed_model&&) noexcept = default;
template <typename Whole>
distributed_model<Whole>& distributed_model<Whole>::operator=(distributed_model&&) noexcept = default;
template <typename Whole>
distributed_model<Whole>::~distributed_model() = default;

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
  Whole* const all = whole();
  implementation& self = *implementation_;
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
  self.set();
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
