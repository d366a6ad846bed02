// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "quadrat/io/frames.hpp"

namespace quadrat::io {

/// Reads the frames of an extended .xyz file (https://github.com/libAtoms/extxyz, its whole grammar), or of a plain
/// one: number of atoms, comment, then one line per atom. Without Properties a line is a name and three coordinates;
/// further columns are ignored. A comment with none of Properties, Lattice and pbc may be any text. In other comments,
/// what is not understood is an error.
///
/// The comment gives: the cell, `Lattice="ax ay az bx by bz cx cy cz"`, or three numbers for a cell along the axes;
/// `pbc="T F T"`, by default all true if there is a Lattice; `Origin="x y z"`, as OVITO writes it; `Time=t`, if it is a
/// number. The column `species:S:1` of Properties gives the species; without Properties the first column does. Charges
/// are the column `charge:R:1`, else `charges`, else `initial_charges` (as ASE writes them), of kind R or I.
class xyz_reader final : public frame_reader {
 public:
  /// A text; `file` is its name in messages.
  xyz_reader(std::string text, std::string file, const frame_columns& columns = {});
  ~xyz_reader() override;
  xyz_reader(const xyz_reader&) = delete;
  xyz_reader& operator=(const xyz_reader&) = delete;

  /// Also throws io_error for text between frames, and if there is no frame at all.
  [[nodiscard]] bool next(file_frame& frame) override;
  [[nodiscard]] std::size_t count_rest() override;

 private:
  class parser;
  std::unique_ptr<parser> parser_;
};

}  // namespace quadrat::io
