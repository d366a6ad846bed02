// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace quadrat {

/// One method, as a choice saw it.
struct candidate {
  std::string method;
  double milliseconds = 0;  ///< expected for all uses and their preparation; infinite if it was not considered
  double bytes = 0;         ///< of memory that it is expected to hold; 0: not known
  std::string why_not;      ///< empty if it could be chosen
};

/// Why a method was chosen: all candidates, those expected to be fastest first.
struct explanation {
  std::string what;    ///< is chosen: "method of spreading"
  std::string chosen;  ///< empty if nothing has been chosen yet
  std::string reason;  ///< one line
  std::vector<candidate> candidates;
  /// What the choice went by: counts, and what was sampled.
  std::vector<std::pair<std::string, double>> load;
  std::string profile;  ///< which constants
  /// Of a choice that is looked at again as a run goes: what was changed when, one line each.
  std::vector<std::string> changes;

  /// A table.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::string json() const;
};

}  // namespace quadrat
