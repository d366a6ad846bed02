// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The registers that vectorized loops use on CPUs. This is the one place that decides for all of them.
namespace quadrat::detail {

/// From the narrowest ones on. Loops that are compiled for one set may use those before it.
enum class cpu_lanes {
  plain,   ///< what every CPU of the architecture has
  avx2,    ///< with FMA
  avx512,  ///< F, DQ, VL and BW
};

/// The widest ones that this CPU has.
[[nodiscard]] cpu_lanes lanes_of_cpu();

/// What the environment variable QUADRAT_LANES asks for by `name`, on a CPU that has lanes up to `most`; null or empty:
/// those. Throws argument_error for other names, and for lanes that the CPU lacks.
[[nodiscard]] cpu_lanes lanes_named(const char* name, cpu_lanes most);

/// What loops use in this process: that variable is read once. Throws as lanes_named; every cpu_context asks when it is
/// made, so that later calls cannot fail.
[[nodiscard]] cpu_lanes lanes_in_use();

/// Whether loops that are compiled for these lanes may run.
[[nodiscard]] inline bool has_lanes(cpu_lanes lanes) { return lanes <= lanes_in_use(); }

}  // namespace quadrat::detail
