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

/// The columns to read besides the positions.
struct frame_columns {
  bool species = false;
  bool charges = false;  ///< every frame must have them
  bool fields = false;   ///< all columns of the file
};

/// A column of values per particle, (particles x width). `kind` tells which of the vectors holds them.
struct frame_field {
  std::string name;
  char kind = 'R';                       ///< as in Properties of extended .xyz
  std::size_t width = 1;                 ///< values of each particle
  std::vector<double> reals{};           ///< of kind R
  std::vector<std::int64_t> integers{};  ///< of kind I; of L, 1 for true and 0 for false
  std::vector<std::string> words{};      ///< of kind S
};

/// The particles of one frame.
struct file_frame {
  std::string file;              ///< for messages
  std::size_t comment_line = 0;  ///< in .xyz: the comment line, which the atoms follow, one per line; else 0
  std::size_t frames = 1;        ///< frames of the file that have been read so far
  std::vector<vec<double, 3>> positions;
  /// The three vectors of the cell, one after the other. The vector of an open direction may be zero.
  std::optional<vec<vec<double, 3>, 3>> lattice;
  vec<bool, 3> periodic{};
  vec<double, 3> origin{};  ///< corner of the cell
  std::optional<double> time;
  std::optional<std::uint64_t> step;
  std::vector<std::string> species;  ///< per particle; empty if not requested or not in the file
  std::vector<double> charges;       ///< per particle, finite; empty if not requested
  std::vector<frame_field> fields;   ///< all columns but the positions; empty if not requested

  /// The place in the file, for messages: "atoms.xyz:2", or only the file if the format has no lines.
  [[nodiscard]] std::string place() const {
    return comment_line == 0 ? file : file + ":" + std::to_string(comment_line);
  }
};

/// Reads one frame after another.
class frame_reader {
 public:
  virtual ~frame_reader() = default;
  /// Reads the next frame; false at the end. Throws io_error that names the file and, in text formats, the line
  /// ("FILE:LINE:").
  [[nodiscard]] virtual bool next(file_frame& frame) = 0;
  /// Reads to the end. Returns the number of frames in the file. Throws as `next`.
  [[nodiscard]] virtual std::size_t count_rest() = 0;
};

/// Whether the file's name says that it holds frames: it ends in .xyz, .extxyz or .gsd.
[[nodiscard]] bool holds_frames(const std::filesystem::path& file);
/// Reads the file into memory. The ending of its name gives the format. Throws io_error.
[[nodiscard]] std::unique_ptr<frame_reader> open_frames(const std::filesystem::path& file,
                                                        const frame_columns& columns = {});
/// The first frame of a file; later ones are only counted. Throws io_error.
[[nodiscard]] file_frame read_first_frame(const std::filesystem::path& file);
/// Calls f(frame) for all frames in order. Throws io_error when it reaches an invalid frame.
void for_each_frame(const std::filesystem::path& file, const frame_columns& columns,
                    const std::function<void(const file_frame&)>& f);

}  // namespace quadrat::io
