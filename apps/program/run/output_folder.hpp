// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "quadrat/io/scene.hpp"

namespace quadrat::program {

/// A frame of a run. Its name is relative to the folder.
struct frame_file {
  std::uint64_t step;
  std::string name;
};

/// The output folder of a run. A run touches only its own files, which its index, `run_files.txt`, lists. A file is in
/// the index from before it is written until after it is removed, so the index is valid whenever the program is killed.
/// Every file appears whole or not at all. Pieces of a frame, which ranks write, belong to the file that joins them,
/// and are not listed.
class output_folder {
 public:
  /// Creates the folder if necessary, locks it for the lifetime of this object, and reads the index of an earlier run.
  /// Throws io_error if the folder cannot be written, another run is writing there, or the index is invalid.
  explicit output_folder(std::filesystem::path path);
  ~output_folder();
  output_folder(const output_folder&) = delete;
  output_folder& operator=(const output_folder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path checkpoint() const { return path_ / "checkpoint.bin"; }
  [[nodiscard]] std::filesystem::path collection() const { return path_ / "frames.pvd"; }
  [[nodiscard]] std::filesystem::path preview() const { return path_ / "preview.png"; }
  [[nodiscard]] std::filesystem::path summary() const { return path_ / "summary.json"; }
  [[nodiscard]] std::filesystem::path statistics() const { return path_ / "statistics.csv"; }
  [[nodiscard]] std::filesystem::path frames() const { return path_ / "frames"; }
  /// `name`: one of run_csv_names.
  [[nodiscard]] std::filesystem::path table(std::string_view name) const;
  /// The name of a frame, relative to the folder.
  /// `shared`: several ranks write the frame; VTK formats are then in pieces.
  [[nodiscard]] static std::string frame_name(std::uint64_t step, io::frame_file_format format, bool shared = false);

  /// Whether the index lists the files of a run.
  [[nodiscard]] bool holds_run() const { return !files_.empty(); }
  /// Whether the index lists that file.
  [[nodiscard]] bool lists(const std::filesystem::path& file) const;
  /// Throws argument_error that names a file which a run could write but the index does not list, or a symbolic link in
  /// its place.
  void require_no_others() const;
  /// The existing frames up to that step, in order.
  [[nodiscard]] std::vector<frame_file> frames_up_to(std::uint64_t step) const;

  /// Bytes of a frame, pieces included; 0 if it does not exist.
  [[nodiscard]] std::uintmax_t frame_bytes(const std::string& name) const;

  /// Adds a file of this folder to the index before it is written. Returns the file. Throws io_error if a file of that
  /// name exists that is not of this run.
  std::filesystem::path claim(const std::filesystem::path& file);
  /// Removes the run that the index lists. The checkpoint goes first, because half a run must not be continued.
  void remove_run();
  /// Removes the frames after that step.
  void remove_frames_after(std::uint64_t step);
  /// Removes temporary files that killed writers of this run have left.
  void remove_leftovers() const;

 private:
  [[nodiscard]] std::filesystem::path index() const { return path_ / "run_files.txt"; }
  [[nodiscard]] std::string stranger_at(const std::string& name) const;
  void read_index();
  void write_index() const;
  void remove(const std::string& name) const;
  void remove_all(const std::vector<std::string>& names) const;

  std::filesystem::path path_;
  int lock_ = -1;
  std::set<std::string> files_;  // relative to the folder
};

}  // namespace quadrat::program
