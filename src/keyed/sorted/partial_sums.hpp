// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "keyed/folds.hpp"

/// Partial results of a key.
namespace quadrat::detail {

template <typename Fold, typename T>
class plain_partial {
 public:
  QUADRAT_HD void join(T value) { value_ = Fold::join(value_, Fold::taken(value)); }
  QUADRAT_HD void join(const plain_partial& later) { value_ = Fold::join(value_, later.value_); }
  [[nodiscard]] QUADRAT_HD T result() const { return value_; }

 private:
  T value_ = Fold::template identity<T>();
};

/// A sum and its rounding error. Source: Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher
/// Summen" (1974), with Knuth's addition, which needs no comparison.
template <typename T>
class compensated_sum {
 public:
  QUADRAT_HD void join(T value) {
    const T sum = sum_ + value;
    const T part = sum - sum_;
    lost_ += (sum_ - (sum - part)) + (value - part);
    sum_ = sum;
  }
  QUADRAT_HD void join(const compensated_sum& later) {
    join(later.sum_);
    lost_ += later.lost_;
  }
  /// If the sum is not finite, the error term is NaN.
  [[nodiscard]] QUADRAT_HD T result() const {
    const T total = sum_ + lost_;
    return total - total == T{0} ? total : sum_;
  }

 private:
  T sum_ = 0;
  T lost_ = 0;
};

}  // namespace quadrat::detail
