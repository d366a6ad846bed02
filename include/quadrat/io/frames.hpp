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

/// What is read of each particle besides its position.
struct frame_columns {
  bool species = false;
  bool charges = false;  ///< every frame must have them
  bool fields = false;   ///< all that the file has
};

/// Values of each particle under one name. One of the vectors holds them, (particles x width).
struct frame_field {
  std::string name;
  char kind = 'R';                       ///< as in Properties of extended .xyz
  std::size_t width = 1;                 ///< values of each particle
  std::vector<double> reals{};           ///< of kind R
  std::vector<std::int64_t> integers{};  ///< of kind I; of L, 1 for true and 0 for false
  std::vector<std::string> words{};      ///< of kind S
};

/// Particles at one time, as a file has them.
struct file_frame {
  std::string file;              ///< for messages
  std::size_t comment_line = 0;  ///< of .xyz: its line, below which the atoms follow, one per line; else 0
  std::size_t frames = 1;        ///< in the file, as far as it has been read
  std::vector<vec<double, 3>> positions;
  /// The three vectors of the cell, one after the other. The vector of an open direction may be zero.
  std::optional<vec<vec<double, 3>, 3>> lattice;
  vec<bool, 3> periodic{};
  vec<double, 3> origin{};  ///< corner of the cell
  std::optional<double> time;
  std::optional<std::uint64_t> step;
  std::vector<std::string> species;  ///< of each particle, if they were asked for and are there
  std::vector<double> charges;       ///< of each particle, finite, if they were asked for
  std::vector<frame_field> fields;   ///< all but the positions, if they were asked for

  /// Where it is, for messages: "atoms.xyz:2", or the file alone where that has no lines.
  [[nodiscard]] std::string place() const {
    return comment_line == 0 ? file : file + ":" + std::to_string(comment_line);
  }
};

/// Reads one frame after another.
class frame_reader {
 public:
  virtual ~frame_reader() = default;
  /// Reads the next frame; false at the end. Throws io_error that names the file, and of text the line ("FILE:LINE:").
  [[nodiscard]] virtual bool next(file_frame& frame) = 0;
  /// Goes on to the end; returns the number of frames in the file. Throws as above.
  [[nodiscard]] virtual std::size_t count_rest() = 0;
};

/// Whether the file's name says that it holds frames: it ends in .xyz, .extxyz or .gsd.
[[nodiscard]] bool holds_frames(const std::filesystem::path& file);
/// Reads the file whole, by the ending of its name. Throws io_error.
[[nodiscard]] std::unique_ptr<frame_reader> open_frames(const std::filesystem::path& file,
                                                        const frame_columns& columns = {});
/// The first frame of a file; later ones are only counted. Throws io_error.
[[nodiscard]] file_frame read_first_frame(const std::filesystem::path& file);
/// Calls f(frame) for all frames, one after the other. Throws io_error when it comes to the frame that is wrong.
void for_each_frame(const std::filesystem::path& file, const frame_columns& columns,
                    const std::function<void(const file_frame&)>& f);

}  // namespace quadrat::io
