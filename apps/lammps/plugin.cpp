// SPDX-License-Identifier: BSD-3-Clause
#include "lammps/kspace_quadrat.hpp"

/// What LAMMPS' command `plugin load` calls, and programs with an instance of LAMMPS. Styles are entered here and not
/// by LAMMPS' own function of registration, which not every version has for kspace styles.
extern "C" __attribute__((visibility("default"))) void lammpsplugin_init(void* lmp, void*, void*) {
  const auto make = [](LAMMPS_NS::LAMMPS* host) -> LAMMPS_NS::KSpace* {
    return new quadrat::lammps::kspace_quadrat(host);
  };
  (*static_cast<LAMMPS_NS::LAMMPS*>(lmp)->force->kspace_map)["quadrat"] = make;
}
