// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "program/reduce/calculation.hpp"

namespace quadrat::program {

/// The data that `quadrat reduce` reports besides the outcome.
struct reduce_report {
  std::string reproducible;
  std::optional<std::string> output;
  double reading_seconds = 0, writing_seconds = 0, total_seconds = 0;
};

/// The output of --json (described in docs/guides/keyed.md).
[[nodiscard]] nlohmann::ordered_json as_json(const reduce_report& report, const reduce_task& task,
                                             const key_array& keys, const value_array* values,
                                             const reduce_outcome& outcome);

/// A few lines for people.
[[nodiscard]] std::string as_text(const reduce_report& report, const reduce_task& task, const key_array& keys,
                                  const value_array* values, const reduce_outcome& outcome);

}  // namespace quadrat::program
