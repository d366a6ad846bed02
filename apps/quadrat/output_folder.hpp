// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "quadrat/io/checkpoint.hpp"
#include "quadrat/io/scene.hpp"
#include "quadrat/io/vtk.hpp"
#include "simulation.hpp"

namespace quadrat::program {

/// The folder of a run and the names of what is in it. Every file appears whole or not at all.
class output_folder {
 public:
  /// Creates the folder if need be and locks it as long as this object lives. Throws io_error when it cannot be written
  /// or another run is writing there.
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
  /// One of run_csv_names.
  [[nodiscard]] std::filesystem::path table(std::string_view name) const;

  /// Removes what an earlier run left; its checkpoint is kept as checkpoint.previous.bin.
  void start_over() const;
  /// Removes frames after that step, and returns the ones before it as entries of the collection.
  [[nodiscard]] std::vector<io::pvd_entry> keep_frames_up_to(std::uint64_t step, double time_step) const;
  /// The name of a frame, relative to the folder.
  [[nodiscard]] static std::string frame_name(std::uint64_t step);

 private:
  std::filesystem::path path_;
  int lock_ = -1;
};

}  // namespace quadrat::program
