// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "program/device_options.hpp"
#include "program/reduce/arrays.hpp"
#include "quadrat/keyed/key_reducer.hpp"
#include "quadrat/tune/explanation.hpp"

namespace quadrat::program {

/// A reduction to compute.
struct reduce_task {
  std::string operation = "sum";  ///< one of key_operation_names, or "count"
  std::uint64_t key_count = 1;
  key_reducer_options options;
};

/// The results, and data about the computation.
struct reduce_outcome {
  used_device device;
  std::string method, reason;
  quadrat::explanation explanation;
  value_array results;
  std::size_t memory_bytes = 0;
  double setting_seconds = 0, reduce_seconds = 0;  ///< of set_keys; of the operation itself
};

/// Computes the reduction. Without values it counts. Throws what the library throws.
[[nodiscard]] reduce_outcome reduce_arrays(const reduce_task& task, const device_options& device, const key_array& keys,
                                           const value_array* values);

}  // namespace quadrat::program
