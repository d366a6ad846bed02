// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "contacts/bodies/placement.hpp"
#include "contacts/choice.hpp"
#include "contacts/engine.hpp"
#include "quadrat/core/box.hpp"
#include "tune/round_trials.hpp"

namespace quadrat::detail {

/// A search for pairs of bodies: the placed bodies, the method, and its engine. Call choose, place, plan, insert; then
/// the passes of the engine. Between begin_round and end_round the times of searches decide between methods.
template <typename Context, typename T>
class search_plan {
 public:
  explicit search_plan(const Context& context) : context_(context), placement_(context) {}

  /// Takes the named method; chooses one if the name is empty.
  void choose(std::string_view asked, const pair_request& request);
  /// After `choose`: may try another method in this search.
  void begin_round(std::size_t bodies);
  /// The search has ended, without an error.
  void end_round() { trials_.stop(context_); }
  /// There is no memory for the search. Returns whether its method was only on trial: then it is to be searched again.
  [[nodiscard]] bool refuse_round();
  /// Places and checks all bodies. Synchronizes.
  template <typename Place>
  [[nodiscard]] fault_report place(std::size_t count, const Place& place) {
    return placement_.place(count, place);
  }
  /// Lets the engine choose bins. Throws argument_error.
  void plan(const std::optional<box<T, 3>>& domain, const bin_options<T>& options);
  /// Uses these bins instead.
  void take(const planned_bins<T>& bins);
  /// Inserts the bodies into the engine. May synchronize. Throws argument_error if they touch too many bins.
  void insert();

  [[nodiscard]] pair_engine<Context, T>& engine() const { return *engine_; }
  [[nodiscard]] std::size_t rows() const { return placement_.count() > 0 ? engine_->rows() : 0; }
  [[nodiscard]] const placed_body<T>* placed() const { return placement_.bodies(); }
  [[nodiscard]] const box<T, 3>& domain() const { return domain_; }
  [[nodiscard]] std::string_view method() const { return choice_.method; }
  [[nodiscard]] const std::string& reason() const { return reason_; }
  [[nodiscard]] T bin_size() const { return bin_size_; }
  [[nodiscard]] explanation explain() const;
  [[nodiscard]] std::size_t bytes() const;

 private:
  [[nodiscard]] placed_bodies<T> bodies() {
    return {placement_.bodies(), placement_.count(), &placement_.sizes(), domain_, placement_.faults()};
  }

  void use(std::string_view method);

  Context context_;
  body_placement<Context, T> placement_;
  round_trials<Context> trials_;  // at determinism none, of methods that were not asked for, once contacts are counted
  bool tried_ = false;            // there is an engine of a method that was on trial
  /// The engines used so far, by name of the method: if the number of bodies alternates between two methods, neither
  /// allocates again.
  std::map<std::string_view, std::unique_ptr<pair_engine<Context, T>>> engines_;
  pair_engine<Context, T>* engine_ = nullptr;
  contact_choice choice_;
  pair_request request_{};  ///< that it was made for
  box<T, 3> domain_{};
  std::string reason_;  ///< for the method and the bins
  T bin_size_ = T(0);
};

}  // namespace quadrat::detail
