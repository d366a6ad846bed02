// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The vector registers that loops use on CPUs. Only this file decides which.
namespace quadrat::detail {

/// From the narrowest to the widest. Loops compiled for one set may also use the narrower ones.
enum class cpu_lanes {
  plain,   ///< what every CPU of the architecture has
  avx2,    ///< with FMA
  avx512,  ///< F, DQ, VL and BW
};

/// The widest lanes of this CPU.
[[nodiscard]] cpu_lanes lanes_of_cpu();

/// The lanes that the environment variable QUADRAT_LANES asks for by `name`, on a CPU with lanes up to `most`. Null or
/// empty: `most`. Throws argument_error for other names, and for lanes that the CPU lacks.
[[nodiscard]] cpu_lanes lanes_named(const char* name, cpu_lanes most);

/// The lanes that loops use in this process; the variable is read once. Throws as lanes_named. Every cpu_context calls
/// it when it is made, so that later calls cannot fail.
[[nodiscard]] cpu_lanes lanes_in_use();

/// Whether loops compiled for these lanes may run.
[[nodiscard]] inline bool has_lanes(cpu_lanes lanes) { return lanes <= lanes_in_use(); }

}  // namespace quadrat::detail
