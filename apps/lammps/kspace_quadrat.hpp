// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include "lammps/headers.hpp"
#include "lammps/mesh_sum.hpp"
#include "quadrat/distributed/communicator.hpp"

namespace quadrat::lammps {

/// `kspace_style quadrat ACCURACY`: the mesh part of the Coulomb energy beside any pair style that LAMMPS calls
/// compatible with Ewald sums, which computes the short-range part from `g_ewald`. See docs/guides/lammps.md.
class kspace_quadrat final : public LAMMPS_NS::KSpace {
 public:
  explicit kspace_quadrat(LAMMPS_NS::LAMMPS* lmp);

  void settings(int count, char** words) override;
  void init() override;
  void setup() override {}  // compute reads the box
  void compute(int eflag, int vflag) override;
  double memory_usage() override;

 private:
  /// Ends the run of all ranks.
  [[noreturn]] void fail(const std::string& words);
  void check_system();
  void count_charges();
  [[nodiscard]] lattice<double, 3> cell() const;
  [[nodiscard]] rank_charges charges() const;
  void check_atoms(const rank_charges& mine) const;
  void choose(const ewald_parameters& given);
  /// Errors of forces, of the sums and of the pair style's tables.
  void say(const ewald_parameters& chosen, double sums, double tables);
  void deliver(const mesh_results& results);
  /// Ends the run with the message of what `call` throws, which all ranks do alike.
  template <typename F>
  void collectively(F&& call);

  std::unique_ptr<communicator> ranks_;
  std::unique_ptr<mesh_sum> sum_;
  mesh_results results_;
};

}  // namespace quadrat::lammps
