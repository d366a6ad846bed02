// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "quadrat/core/types.hpp"

/// The cost of a method: a sum of terms, each an amount times a constant of the device. The method's descriptor
/// computes the amounts from the load. The constants are measured and stored in a device profile.
namespace quadrat::detail {

/// The number of CPU threads that choices assume if results must not depend on the number of threads.
inline constexpr int usual_threads = 3;

/// The physical meaning of a constant, by which it is scaled to a device that was not measured.
enum class cost_unit {
  launch,  ///< milliseconds per start of a kernel or loop: does not scale
  byte,    ///< moved to or from memory: scales with the bandwidth
  step     ///< of computing, and atomic operations: scales with the clock and the number of cores
};

struct cost_term {
  std::string_view name;
  cost_unit unit;
  double amount;
  bool once;  ///< for preparation, done once for several uses; otherwise for each use
};

/// The terms of one method for one load. Amounts are nonnegative.
class method_cost {
 public:
  static constexpr std::size_t most_terms = 28;

  /// Adds a term of preparation. Names are in static storage. A method has at most one term of each name and kind.
  method_cost& once(std::string_view name, cost_unit unit, double amount) { return add({name, unit, amount, true}); }
  method_cost& each(std::string_view name, cost_unit unit, double amount) { return add({name, unit, amount, false}); }
  /// Bytes of the context's memory that the method holds.
  method_cost& holds(double bytes) {
    bytes_ = bytes;
    return *this;
  }
  /// The method is only chosen if no other can be; `why` says the reason.
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

/// The cost of a method, and what else decides whether it can be chosen, apart from the device.
struct named_cost {
  std::string_view method;
  determinism reproducible;
  bool serves;
  method_cost cost;
};

}  // namespace quadrat::detail
