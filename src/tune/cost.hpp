// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "quadrat/core/types.hpp"

/// What a method costs, as a sum of terms: an amount of something physical, times a constant of the device. Amounts
/// follow from the load, in the record of the method; the constants are measured and stand in a device profile.
namespace quadrat::detail {

/// For how many threads of a CPU a method is chosen where results must be the same with any number of them.
inline constexpr int usual_threads = 3;

/// What a constant depends on, so that it can be carried over to a device that was not measured.
enum class cost_unit {
  launch,  ///< milliseconds for each start of something: does not scale
  byte,    ///< moved to or from memory: with the bandwidth
  step     ///< of computing, and atomic operations: with the clock and the number of cores
};

struct cost_term {
  std::string_view name;
  cost_unit unit;
  double amount;
  bool once;  ///< for what is prepared once and used several times; otherwise for each use
};

/// The terms of one method for one load. Amounts are not negative.
class method_cost {
 public:
  static constexpr std::size_t most_terms = 28;

  /// Adds a term. Names are in static storage, and one method has no two terms of one name and kind.
  method_cost& once(std::string_view name, cost_unit unit, double amount) { return add({name, unit, amount, true}); }
  method_cost& each(std::string_view name, cost_unit unit, double amount) { return add({name, unit, amount, false}); }
  /// Bytes of the context's memory that the method holds.
  method_cost& holds(double bytes) {
    bytes_ = bytes;
    return *this;
  }
  /// Only chosen where nothing else serves, and why.
  method_cost& last_resort(std::string_view why) {
    last_resort_ = why;
    return *this;
  }

  [[nodiscard]] std::span<const cost_term> terms() const { return {terms_.data(), count_}; }
  [[nodiscard]] double bytes() const { return bytes_; }
  [[nodiscard]] std::string_view why_last() const { return last_resort_; }

 private:
  method_cost& add(const cost_term& term) {
    if (count_ < most_terms) terms_[count_++] = term;
    return *this;
  }

  std::array<cost_term, most_terms> terms_{};
  std::size_t count_ = 0;
  double bytes_ = 0;
  std::string_view last_resort_;
};

/// The cost of a method, and what else decides whether it can be chosen, apart from where it runs.
struct named_cost {
  std::string_view method;
  determinism reproducible;
  bool serves;
  method_cost cost;
};

}  // namespace quadrat::detail
