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
#include "tune/autotuner.hpp"

namespace quadrat::detail {

/// The method of a search, its engine, and the bins that it has planned. Call choose, then with_method; in it begin,
/// then with_bins, whose plan() calls look and choose_bins.
template <typename Context, typename T>
class search_plan {
 public:
  explicit search_plan(const Context& context) : context_(context), placement_(context) {}

  /// Takes the named method, or chooses one for "auto". `autotune`: by measured times, once contacts have been counted,
  /// as crowds slow some methods down a hundred times.
  void choose(std::string_view asked, const pair_request& request, bool autotune = false);
  /// Calls search() with the chosen method or, while autotuning, the one to be timed.
  template <typename Search>
  void with_method(std::size_t bodies, const Search& search) {
    if (!tuner_.active()) return search();
    const bool tunes = tuner_.tuning();
    tuner_.turn(context_, static_cast<double>(bodies), [&](std::string_view method) {
      use(method);
      search();
    });
    if (tunes && !tuner_.tuning()) keep_only_engine();
  }
  /// The method stays from now on.
  void stop_tuning() { tuner_.stop(); }

  /// Begins a search, which waits or does not: see search_control.
  void begin(bool waits) { placement_.begin(waits); }
  /// Checks all bodies. Synchronizes.
  template <typename Place>
  [[nodiscard]] fault_report look(std::size_t count, const Place& place) {
    planned_ = nullptr;
    return placement_.look(count, place);
  }
  /// Calls plan(), unless the last bins are kept, then find(). Repeats both if the kept bins do not fit.
  template <typename Plan, typename Find>
  void with_bins(std::size_t bodies, bool known_domain, const Plan& plan, const Find& find) {
    const bool kept = keeps_plan(bodies, known_domain);
    if (!kept) plan();
    find();
    if (!kept || !control().failed()) return;
    begin(true);
    plan();
    find();
  }
  /// Lets the engine choose bins. May synchronize. Throws argument_error.
  void choose_bins(const std::optional<box<T, 3>>& domain, const bin_options<T>& options);

  [[nodiscard]] contact_engine<Context, T>& engine() const { return *engine_; }
  [[nodiscard]] body_placement<Context, T>& placement() { return placement_; }
  [[nodiscard]] search_control<Context>& control() { return placement_.control(); }
  [[nodiscard]] const box<T, 3>& domain() const { return domain_; }
  [[nodiscard]] std::string_view method() const { return choice_.method; }
  [[nodiscard]] const std::string& reason() const { return reason_; }
  [[nodiscard]] T bin_size() const { return bin_size_; }
  [[nodiscard]] explanation explain() const;
  [[nodiscard]] std::size_t bytes() const;

 private:
  /// Whether the bins of an earlier search may serve this many similar bodies; the search raises a fault if the bodies
  /// differ too much. False if the order of results must depend on the bodies alone.
  [[nodiscard]] bool keeps_plan(std::size_t bodies, bool known_domain);
  void use(std::string_view method);
  void keep_only_engine();

  Context context_;
  body_placement<Context, T> placement_;
  autotuner tuner_;
  /// The engines used so far, by name of the method: if the number of bodies alternates between two methods, neither
  /// allocates again.
  std::map<std::string_view, std::unique_ptr<contact_engine<Context, T>>> engines_;
  contact_engine<Context, T>* engine_ = nullptr;
  contact_choice choice_;
  pair_request request_{};                               ///< for which it was made
  const contact_engine<Context, T>* planned_ = nullptr;  ///< the engine whose bins these are
  std::size_t planned_count_ = 0;
  int searches_ = 0;  ///< number of searches with these bins
  box<T, 3> domain_{};
  std::string reason_;  ///< for the method and the bins
  T bin_size_ = T(0);
};

}  // namespace quadrat::detail
