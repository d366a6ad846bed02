// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/friction/grain.hpp"
#include "models/friction/meshes.hpp"
#include "models/friction/setup.hpp"
#include "quadrat/core/array.hpp"

namespace quadrat::detail {

/// The walls of a run and the laws between all materials, in the memory of the device.
template <typename Context, typename T>
class friction_laws {
 public:
  friction_laws(const Context& context, const friction_setup<T>& setup)
      : first_(setup.laws[0]),
        plain_(setup.plain),
        count_(setup.material_count),
        walls_(to_device(context, setup.walls)),
        laws_(to_device(context, setup.laws)),
        wall_materials_(to_device(context, setup.wall_materials)) {}

  /// Calls `action` with the friction_forces of the kind that the run needs. `of_grains`: materials by slot.
  template <typename Action>
  decltype(auto) with_forces(const moving_grains<T>& grains, const friction_partners<T>& near,
                             const std::uint32_t* of_grains, Action&& action) const {
    const auto walls = static_cast<std::uint32_t>(walls_.size());
    if (plain_) return action(friction_forces<T, one_material<T>>{{first_}, grains, near, walls_.data(), walls});
    return action(friction_forces<T, material_table<T>>{table(of_grains), grains, near, walls_.data(), walls});
  }
  [[nodiscard]] friction_forces<T, mesh_table<T>> forces_on_meshes(const moving_grains<T>& grains,
                                                                   const friction_partners<T>& near,
                                                                   const std::uint32_t* of_grains,
                                                                   const friction_meshes<T>& meshes) const {
    return {{table(of_grains), meshes}, grains, near, walls_.data(), static_cast<std::uint32_t>(walls_.size())};
  }

  [[nodiscard]] std::size_t walls() const { return walls_.size(); }
  [[nodiscard]] std::size_t bytes() const { return walls_.bytes() + laws_.bytes() + wall_materials_.bytes(); }

 private:
  [[nodiscard]] material_table<T> table(const std::uint32_t* of_grains) const {
    return {laws_.data(), of_grains, wall_materials_.data(), count_};
  }

  friction_law<T> first_;
  bool plain_;
  std::uint32_t count_;
  array<friction_wall<T>, Context> walls_;
  array<friction_law<T>, Context> laws_;
  array<std::uint32_t, Context> wall_materials_;
};

}  // namespace quadrat::detail
