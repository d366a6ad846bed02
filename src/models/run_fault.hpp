// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/parallel/atomic.hpp"

namespace quadrat::detail {

/// Records that a run has blown up: the smallest (step << 32 | particle); all ones: no fault. Steps count from 1;
/// those that 32 bits do not hold are given as the last that they hold.
struct run_fault {
  std::uint64_t* first;

  QUADRAT_HD void raise(std::uint64_t step, particle_id particle) const {
    constexpr std::uint64_t last_step = 0xfffffffeu;
    atomic_min(first, (step < last_step ? step : last_step) << 32 | particle);
  }
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

/// Index: 0. The words of a run at its beginning: the number of the next step at both parities, then a fault.
struct begin_words {
  std::uint64_t* words;
  std::uint64_t next;
  const std::uint64_t* fault;  ///< nullptr: none

  QUADRAT_HD void operator()(std::size_t) const {
    words[0] = words[1] = next;
    words[2] = fault != nullptr ? *fault : no_run_fault;
  }
};

}  // namespace quadrat::detail
