// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// LAMMPS' headers need fmt, which those of LAMMPS' own packages bring along. Those of Debian take the system's, and
// that may lack a name that their templates mention. None of these templates is used here.
#if !__has_include(<lammps/fmt/format.h>)
#include <fmt/core.h>
#if FMT_VERSION >= 90000
namespace fmt {
template <typename... Args, typename S>
int make_args_checked(const S&, const Args&...);
}
#endif
#endif

#include <lammps/atom.h>
#include <lammps/comm.h>
#include <lammps/domain.h>
#include <lammps/error.h>
#include <lammps/force.h>
#include <lammps/kspace.h>
#include <lammps/lammps.h>
#include <lammps/neighbor.h>
#include <lammps/pair.h>
