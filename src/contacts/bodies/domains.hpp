// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "quadrat/core/box.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"

/// The domains of bodies: one for all, or one for each system. Functors that are templates over `Domain` take either,
/// so that a search in one domain does not read systems.
namespace quadrat::detail {

/// Systems are below this: their number and that of a level fit in 32 bits.
inline constexpr std::uint32_t most_systems = std::uint32_t{1} << 28;

template <typename T>
struct system_domains {
  box<T, 3> all;                           ///< of every system, unless each has its own
  const box<T, 3>* boxes = nullptr;        ///< by system
  const std::uint32_t* systems = nullptr;  ///< by body; nullptr: all are in one
  std::uint32_t count = 1;                 ///< of systems

  [[nodiscard]] QUADRAT_HD std::uint32_t given_system_of(particle_id body) const {
    return systems != nullptr ? systems[body] : 0;
  }
  /// An impossible system counts as the last one: a search may run before the host sees the fault.
  [[nodiscard]] QUADRAT_HD std::uint32_t system_of(particle_id body) const {
    const std::uint32_t system = given_system_of(body);
    return system < count ? system : count - 1;
  }
  [[nodiscard]] QUADRAT_HD const box<T, 3>& of(particle_id body) const {
    return boxes != nullptr ? boxes[system_of(body)] : all;
  }
};

/// The domain of a body.
template <typename T>
[[nodiscard]] QUADRAT_HD const box<T, 3>& domain_of(const box<T, 3>& domain, particle_id /*body*/) {
  return domain;
}
template <typename T>
[[nodiscard]] QUADRAT_HD const box<T, 3>& domain_of(const system_domains<T>& domains, particle_id body) {
  return domains.of(body);
}

}  // namespace quadrat::detail
