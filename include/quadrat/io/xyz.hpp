// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "quadrat/core/vec.hpp"

namespace quadrat::io {

/// What is read of each atom besides its position.
struct xyz_columns {
  bool species = false;
  bool charges = false;  ///< every frame must have them
};

/// A frame of an .xyz file.
struct xyz_frame {
  std::string file;              ///< for messages
  std::size_t comment_line = 2;  ///< in the file; the atoms follow, one per line
  std::size_t frames = 1;        ///< in the file, if it has been read to the end
  std::vector<vec<double, 3>> positions;
  /// The three vectors of the cell, one after the other: `Lattice="ax ay az bx by bz cx cy cz"`. The vector of an open
  /// direction may be zero.
  std::optional<vec<vec<double, 3>, 3>> lattice;
  /// `pbc="T F T"`; all true if there is a Lattice but no pbc.
  vec<bool, 3> periodic{};
  /// `Origin="x y z"` of the cell, as OVITO writes it.
  vec<double, 3> origin{};
  /// Of each atom: the column of `species:S:1` in Properties, or the first one without Properties; empty if there is no
  /// such column, or it was not asked for.
  std::vector<std::string> species;
  /// Of each atom, finite: the column `charge:R:1` of Properties, else `charges`, else `initial_charges` (as ASE writes
  /// them); kind R or I. Empty if they were not asked for.
  std::vector<double> charges;
};

/// Reads the first frame of an extended .xyz file (https://github.com/libAtoms/extxyz), or of a plain one: number of
/// atoms, comment, then one line per atom. Without Properties a line is a name and three coordinates; further columns
/// are ignored. Later frames are only counted. Throws io_error that names file and line ("FILE:LINE:"), also for later
/// text that is not a frame.
[[nodiscard]] xyz_frame read_xyz(const std::filesystem::path& file);
/// Calls f(frame) for all frames, one after the other. Throws as above, when it comes to the frame that is wrong.
void for_each_xyz_frame(const std::filesystem::path& file, const xyz_columns& columns,
                        const std::function<void(const xyz_frame&)>& f);
/// The same for a text in memory; `file` is its name in messages.
[[nodiscard]] xyz_frame parse_xyz(std::string_view text, const std::string& file);
void parse_xyz_frames(std::string_view text, const std::string& file, const xyz_columns& columns,
                      const std::function<void(const xyz_frame&)>& f);

}  // namespace quadrat::io
