// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/parallel/atomic.hpp"

namespace quadrat::detail {

/// Records that a run has blown up: the smallest (step << 32 | particle); all ones: no fault. Steps count from 1.
struct run_fault {
  std::uint64_t* first;

  QUADRAT_HD void raise(std::uint64_t step, particle_id particle) const { atomic_min(first, step << 32 | particle); }
};

/// The word of a run_fault without a fault.
inline constexpr std::uint64_t no_run_fault = ~std::uint64_t{0};

/// The number of the current step, for faults. It is stored on the device because a captured graph cannot count: a
/// kernel reads it in one word and writes it, plus one, to another, which no thread of the kernel reads.
struct step_words {
  const std::uint64_t* now;
  std::uint64_t* next;
  run_fault fault;
};

}  // namespace quadrat::detail
