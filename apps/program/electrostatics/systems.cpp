// SPDX-License-Identifier: BSD-3-Clause
#include "program/electrostatics/systems.hpp"

#include "quadrat/core/error.hpp"
#include "quadrat/io/frames.hpp"

namespace quadrat::program {
namespace {

lattice<double, 3> cell_of(const io::file_frame& frame) {
  const std::string place = frame.place() + ": ";
  require(frame.lattice.has_value(), place, "there is no Lattice, which gives the vectors of the cell");
  const auto& periodic = frame.periodic;
  const auto letter = [&](int axis) { return periodic[axis] ? 'T' : 'F'; };
  require(periodic[0] && periodic[1], place, "pbc is \"", letter(0), " ", letter(1), " ", letter(2),
          "\"; systems are periodic along all vectors (T T T), or along the first two (T T F, a slab)");
  require(periodic[2] || squared_norm((*frame.lattice)[2]) > 0, place,
          "vector 3 of the Lattice is zero; that of a slab must span its thickness");
  try {
    return make_lattice(frame.origin, *frame.lattice, periodic);
  } catch (const argument_error& problem) {
    throw argument_error(place + problem.what());
  }
}

}  // namespace

charged_systems read_charged_systems(const std::filesystem::path& file) {
  require(io::holds_frames(file), "systems are read from .xyz, .extxyz and .gsd files; ", file.string(),
          " ends otherwise");
  charged_systems systems;
  systems.file = file.string();
  io::for_each_frame(file, {.charges = true}, [&](const io::file_frame& frame) {
    const auto system = static_cast<std::uint32_t>(systems.cells.size());
    systems.cells.push_back(cell_of(frame));
    systems.names.push_back(frame.comment_line == 0 ? message("frame ", system)
                                                    : message("the frame at line ", frame.comment_line - 1));
    systems.positions.insert(systems.positions.end(), frame.positions.begin(), frame.positions.end());
    systems.charges.insert(systems.charges.end(), frame.charges.begin(), frame.charges.end());
    systems.system_of_point.resize(systems.positions.size(), system);
    for (std::size_t i = 0; i < frame.positions.size() && frame.comment_line > 0; ++i) {
      systems.lines.push_back(frame.comment_line + 1 + i);
    }
  });
  return systems;
}

}  // namespace quadrat::program
