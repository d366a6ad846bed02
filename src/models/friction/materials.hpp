// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "models/friction/force.hpp"
#include "quadrat/core/macros.hpp"

/// Which law acts between two bodies. Kernels are compiled for both: grains of one material with the plain law do not
/// pay for tables.
namespace quadrat::detail {

/// One material, without cohesion, twisting friction and rolling springs. The law is a kernel argument.
template <typename T>
struct one_material {
  using memory = contact_memory<T>;

  friction_law<T> law;

  [[nodiscard]] QUADRAT_HD const friction_law<T>& between(std::uint32_t, std::uint32_t) const { return law; }
  [[nodiscard]] QUADRAT_HD std::uint32_t of_grain(std::uint32_t) const { return 0; }
  [[nodiscard]] QUADRAT_HD std::uint32_t of_wall(std::uint32_t) const { return 0; }
  [[nodiscard]] QUADRAT_HD T time_step() const { return law.time_step; }
};

/// Any materials, and all that laws can do.
template <typename T>
struct material_table {
  using memory = full_contact_memory<T>;

  const friction_law<T>* laws;     ///< of materials a and b: a * count + b
  const std::uint32_t* of_grains;  ///< by slot
  const std::uint32_t* of_walls;
  std::uint32_t count;

  [[nodiscard]] QUADRAT_HD const friction_law<T>& between(std::uint32_t a, std::uint32_t b) const {
    return laws[a * count + b];
  }
  [[nodiscard]] QUADRAT_HD std::uint32_t of_grain(std::uint32_t slot) const { return of_grains[slot]; }
  [[nodiscard]] QUADRAT_HD std::uint32_t of_wall(std::uint32_t k) const { return of_walls[k]; }
  [[nodiscard]] QUADRAT_HD T time_step() const { return laws[0].time_step; }
};

}  // namespace quadrat::detail
