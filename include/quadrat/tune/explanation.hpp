// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace quadrat {

/// One method that a choice considered.
struct candidate {
  std::string method;
  double milliseconds = 0;  ///< expected for all uses and their preparation; infinite if it was not compared
  double bytes = 0;         ///< of memory that it would hold; 0: not known
  std::string why_not;      ///< why it cannot be chosen; empty if it can
};

/// Explains a choice of method: all candidates, fastest first by expected time.
struct explanation {
  std::string what;    ///< what is chosen: "method of spreading"
  std::string chosen;  ///< empty if nothing has been chosen yet
  std::string reason;  ///< in one line
  std::vector<candidate> candidates;
  /// The load that the choice is for: counts, and sampled properties.
  std::vector<std::pair<std::string, double>> load;
  std::string profile;  ///< the profile whose constants were used
  /// If the choice is revised during a run: what was changed when, one line each.
  std::vector<std::string> changes;

  /// The explanation as a table.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::string json() const;
};

}  // namespace quadrat
