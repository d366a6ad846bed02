// SPDX-License-Identifier: BSD-3-Clause
#include "lammps/kspace_quadrat.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <string>

#include "quadrat/core/error.hpp"
#include "quadrat/distributed/mpi.hpp"

namespace quadrat::lammps {

kspace_quadrat::kspace_quadrat(LAMMPS_NS::LAMMPS* host) : KSpace(host) {
  ewaldflag = 1;  // for pair styles; they read g_ewald
  triclinic_support = 1;
  order = 0;  // chosen, unless kspace_modify gives one
}

void kspace_quadrat::fail(const std::string& words) { error->all(FLERR, "kspace_style quadrat " + words); }

void kspace_quadrat::settings(int count, char** words) {
  if (count != 1) fail(message("takes one number, the relative accuracy of forces; ", count, " were given"));
  accuracy_relative = LAMMPS_NS::utils::numeric(FLERR, words[0], false, lmp);
  if (!(accuracy_relative > 0 && accuracy_relative < 1)) {
    fail(message("has the accuracy ", words[0], "; it must be above 0 and below 1"));
  }
}

template <typename F>
void kspace_quadrat::collectively(F&& call) {
  std::string problem;
  try {
    call();
    return;
  } catch (const quadrat::error& failure) {
    problem = failure.what();
  } catch (const std::exception& failure) {  // of this rank alone
    error->one(FLERR, message("kspace_style quadrat: ", failure.what()));
  }
  fail("stops: " + problem);
}

void kspace_quadrat::check_system() {
  const auto require_here = [&](bool holds, const std::string& words) {
    if (!holds) fail(words);
  };
  require_here(atom->q_flag != 0, "needs an atom style with charges");
  require_here(domain->dimension == 3, "is for three dimensions");
  require_here(slabflag != 2, "has no slab correction without forces: use kspace_modify slab, not slab nozforce");
  require_here(domain->xperiodic != 0 && domain->yperiodic != 0,
               "needs a box that is periodic along x and y; along z it may be fixed, with kspace_modify slab");
  if (slabflag == 0) {
    require_here(domain->zperiodic != 0, "needs kspace_modify slab for a box that is not periodic along z");
  } else {
    require_here(domain->boundary[2][0] == 1 && domain->boundary[2][1] == 1,
                 "with kspace_modify slab needs fixed boundaries along z: boundary p p f");
  }
  pair_check();
  require_here(force->pair->tip4pflag == 0 && force->pair->dipoleflag == 0,
               "is for charges at the places of atoms: not for TIP4P and dipoles");
}

void kspace_quadrat::count_charges() {
  qsum_qsq();
  natoms_original = atom->natoms;
}

void kspace_quadrat::init() {
  check_system();
  int dimensions = 0;
  const auto* cutoff = static_cast<const double*>(force->pair->extract("cut_coul", dimensions));
  if (cutoff == nullptr) fail("needs a pair style with one Coulomb cutoff");
  scale = 1;
  qqrd2e = force->qqrd2e;
  count_charges();
  two_charge();
  accuracy = accuracy_absolute >= 0 ? accuracy_absolute : accuracy_relative * two_charge_force;
  if (gewaldflag == 0) g_ewald = 0;
  collectively([&] {
    sum_.reset();
    if (!ranks_) ranks_ = make_mpi_communicator(&world);
    sum_ = std::make_unique<mesh_sum>(*ranks_, comm->nthreads);
  });
  if (qsqsum == 0) {
    if (gewaldflag == 0) fail("needs kspace_modify gewald where all charges are 0");
    return;
  }
  ewald_parameters given{.cutoff = *cutoff, .splitting = g_ewald, .mesh = {}, .order = order};
  if (gridflag != 0) given.mesh = {nx_pppm, ny_pppm, nz_pppm};
  choose(given);
}

lattice<double, 3> kspace_quadrat::cell() const {
  using vectors = vec<vec<double, 3>, 3>;
  // Atoms may be up to half a skin beyond a fixed boundary before LAMMPS looks for lost ones.
  const double beyond = domain->zperiodic != 0 ? 0 : neighbor->skin;
  return make_lattice<double, 3>({domain->boxlo[0], domain->boxlo[1], domain->boxlo[2] - beyond},
                                 vectors{{{{domain->xprd, 0, 0}},
                                          {{domain->xy, domain->yprd, 0}},
                                          {{domain->xz, domain->yz, domain->zprd + 2 * beyond}}}},
                                 {true, true, domain->zperiodic != 0});
}

rank_charges kspace_quadrat::charges() const {
  const auto* points = reinterpret_cast<const vec<double, 3>*>(atom->nlocal > 0 ? atom->x[0] : nullptr);
  return {cell(), points, atom->q, static_cast<std::size_t>(atom->nlocal)};
}

/// Names an atom that the sums would refuse by its ID, which they do not know.
void kspace_quadrat::check_atoms(const rank_charges& mine) const {
  const double lower = mine.cell.origin[2], upper = lower + mine.cell.vectors[2][2];
  const bool slab = !mine.cell.periodic[2];
  for (std::size_t i = 0; i < mine.count; ++i) {
    const vec<double, 3>& at = mine.points[i];
    const bool finite = std::isfinite(at[0]) && std::isfinite(at[1]) && std::isfinite(at[2]);
    if (finite && std::isfinite(mine.charges[i]) && !(slab && (at[2] < lower || at[2] > upper))) continue;
    error->one(FLERR,
               message("kspace_style quadrat: atom ", atom->tag[i], " with the charge ", mine.charges[i], " is at ",
                       at[0], ", ", at[1], ", ", at[2],
                       finite ? "; in a slab it must be at most a skin beyond the box" : "; all must be finite"));
  }
}

void kspace_quadrat::choose(const ewald_parameters& given) {
  const rank_charges mine = charges();
  check_atoms(mine);
  const auto atoms = static_cast<double>(atom->natoms);
  const vec<vec<double, 3>, 3>& v = mine.cell.vectors;
  const double spacing = std::cbrt(v[0][0] * v[1][1] * v[2][2] / atoms);
  const double reference = qqrd2e * qsqsum / atoms / (spacing * spacing);
  constexpr double least = 1e-14, largest = 0.5;  // of electrostatics_options::accuracy
  if (accuracy < least * reference) {
    fail(message("has the accuracy ", accuracy / two_charge_force, "; of these charges the least is ",
                 least * reference / two_charge_force));
  }
  mesh_choice choice{};
  collectively([&] { choice = sum_->choose(mine, std::min(largest, accuracy / reference), given); });
  g_ewald = choice.parameters.splitting;
  // As in the other styles.
  const double pairs = choice.short_range_error * reference;
  const double tables =
      estimate_table_accuracy(2 * q2 / std::sqrt(atoms * given.cutoff * v[0][0] * v[1][1] * v[2][2]), pairs);
  if (comm->me == 0) say(choice.parameters, std::hypot(pairs, choice.mesh_error * reference), tables);
}

void kspace_quadrat::say(const ewald_parameters& chosen, double sums, double tables) {
  const double total = std::hypot(sums, tables);
  LAMMPS_NS::utils::logmesg(
      lmp, message("Quadrat initialization ...\n  G vector (1/distance) = ", g_ewald, "\n  grid = ", chosen.mesh[0],
                   " ", chosen.mesh[1], " ", chosen.mesh[2], "\n  order = ", chosen.order,
                   "\n  estimated absolute RMS force accuracy = ", total,
                   "\n  estimated relative force accuracy = ", total / two_charge_force, "\n"));
  if (sums <= 1.01 * accuracy) return;
  error->warning(FLERR, message("kspace_style quadrat: with this cutoff and these parameters of kspace_modify the "
                                "relative error of forces is ",
                                sums / two_charge_force, "; asked for is ", accuracy / two_charge_force));
}

void kspace_quadrat::compute(int eflag, int vflag) {
  ev_init(eflag, vflag);
  energy = 0;
  std::fill_n(virial, 6, 0.0);
  if (vflag_atom != 0) {
    fail("gives no virial of single atoms: leave kspace out, as in compute ID all stress/atom NULL ke pair bond");
  }
  if (atom->natoms != natoms_original) count_charges();
  if (qsqsum == 0) return;
  const rank_charges mine = charges();
  check_atoms(mine);
  collectively([&] {
    sum_->compute(mine, {.energy = eflag_global != 0, .energies = eflag_atom != 0, .virial = vflag_global != 0},
                  results_);
  });
  deliver(results_);
}

void kspace_quadrat::deliver(const mesh_results& results) {
  const double constant = qqrd2e * scale;
  for (std::size_t i = 0; i < results.forces.size(); ++i) {
    for (int axis = 0; axis < 3; ++axis) atom->f[i][axis] += constant * results.forces[i][axis];
    if (eflag_atom != 0) eatom[i] += constant * results.energies[i];
  }
  if (eflag_global != 0) energy = constant * results.energy;
  if (vflag_global == 0) return;
  constexpr int place[6] = {0, 4, 8, 1, 2, 5};  // xx, yy, zz, xy, xz, yz
  for (int k = 0; k < 6; ++k) virial[k] = constant * results.virial[place[k]];
}

double kspace_quadrat::memory_usage() { return sum_ ? static_cast<double>(sum_->bytes()) : 0; }

}  // namespace quadrat::lammps
