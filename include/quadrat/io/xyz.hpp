// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "quadrat/core/vec.hpp"

namespace quadrat::io {

/// What is read of each atom besides its position.
struct xyz_columns {
  bool species = false;
  bool charges = false;  ///< every frame must have them
  bool fields = false;   ///< all columns of Properties
};

/// A column of Properties, or several of one name. One of the vectors holds it, (atoms x width).
struct xyz_field {
  std::string name;
  char kind = 'R';                       ///< as in Properties
  std::size_t width = 1;                 ///< values of each atom
  std::vector<double> reals{};           ///< of kind R
  std::vector<std::int64_t> integers{};  ///< of kind I; of L, 1 for true and 0 for false
  std::vector<std::string> words{};      ///< of kind S
};

/// A frame of an .xyz file.
struct xyz_frame {
  std::string file;              ///< for messages
  std::size_t comment_line = 2;  ///< in the file; the atoms follow, one per line
  std::size_t frames = 1;        ///< in the file, as far as it has been read
  std::vector<vec<double, 3>> positions;
  /// The three vectors of the cell, one after the other: `Lattice="ax ay az bx by bz cx cy cz"`, or three numbers for a
  /// cell along the axes. The vector of an open direction may be zero.
  std::optional<vec<vec<double, 3>, 3>> lattice;
  /// `pbc="T F T"`; all true if there is a Lattice but no pbc.
  vec<bool, 3> periodic{};
  /// `Origin="x y z"` of the cell, as OVITO writes it.
  vec<double, 3> origin{};
  /// `Time=t`, if it is a number.
  std::optional<double> time;
  /// Of each atom: the column of `species:S:1` in Properties, or the first one without Properties; empty if there is no
  /// such column, or it was not asked for.
  std::vector<std::string> species;
  /// Of each atom, finite: the column `charge:R:1` of Properties, else `charges`, else `initial_charges` (as ASE writes
  /// them); kind R or I. Empty if they were not asked for.
  std::vector<double> charges;
  /// All columns but the positions, in their order, if they were asked for; without Properties the species alone.
  std::vector<xyz_field> fields;
};

/// Reads the frames of an extended .xyz file (https://github.com/libAtoms/extxyz, its whole grammar), or of a plain
/// one: number of atoms, comment, then one line per atom. Without Properties a line is a name and three coordinates;
/// further columns are ignored. A comment that gives none of Properties, Lattice and pbc may be any text; what is not
/// understood of others is an error.
class xyz_reader {
 public:
  /// Reads the file whole. Throws io_error.
  explicit xyz_reader(const std::filesystem::path& file, const xyz_columns& columns = {});
  /// A text in memory; `file` is its name in messages.
  xyz_reader(std::string text, std::string file, const xyz_columns& columns = {});
  ~xyz_reader();
  xyz_reader(xyz_reader&&) noexcept;
  xyz_reader& operator=(xyz_reader&&) noexcept;

  /// Reads the next frame; false at the end. Throws io_error that names file and line ("FILE:LINE:"), also for text
  /// between frames, and if there is no frame at all.
  [[nodiscard]] bool next(xyz_frame& frame);
  /// Goes on to the end without reading; returns the number of frames in the file. Throws as above.
  [[nodiscard]] std::size_t count_rest();

 private:
  class parser;
  std::unique_ptr<parser> parser_;
};

/// Whether the file's name says that it is one: it ends in .xyz or .extxyz.
[[nodiscard]] inline bool is_xyz(const std::filesystem::path& file) {
  return file.extension() == ".xyz" || file.extension() == ".extxyz";
}

/// The first frame of a file; later ones are only counted. Throws as above.
[[nodiscard]] xyz_frame read_xyz(const std::filesystem::path& file);
/// Calls f(frame) for all frames, one after the other. Throws as above, when it comes to the frame that is wrong.
void for_each_xyz_frame(const std::filesystem::path& file, const xyz_columns& columns,
                        const std::function<void(const xyz_frame&)>& f);

}  // namespace quadrat::io
