// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "program/run/output_folder.hpp"
#include "program/run/plan.hpp"
#include "program/run/simulation.hpp"
#include "program/run/statistics_table.hpp"
#include "quadrat/io/checkpoint.hpp"
#include "quadrat/io/vtk.hpp"

namespace quadrat::program {

/// Writes the output that a scene requests, at the steps that it requests.
class recorder {
 public:
  recorder(const run_plan& plan, simulation& model, output_folder& folder);

  /// Begins a new run, and writes the output of step 0. Throws argument_error if the folder holds an earlier run that
  /// must not be overwritten, or another file that is in the way; then nothing has been changed.
  void begin(bool overwrite);
  /// Restores the folder's checkpoint, and removes later frames. Throws io::scene_error that names the key if the
  /// checkpoint comes from another scene, io_error if there is none or it is damaged, and argument_error if it is past
  /// the last step. In these cases nothing has been changed.
  void resume();

  /// The next step at which `record` has something to do, or `last`.
  [[nodiscard]] std::uint64_t next_stop(std::uint64_t last) const;
  /// Writes the output that is due at the present step: statistics, frame, checkpoint.
  void record();
  /// Writes the checkpoint of a stopped run or, if the scene requests checkpoints, of a finished run. Call it before
  /// `finish` or `interrupt`: a run that continues from it must not have a row that an uninterrupted run would not
  /// have.
  void save_last(bool stopped);
  /// Writes the final output of a finished run: statistics, picture. Returns the last measurement.
  measurement finish();
  /// Writes the statistics so far.
  measurement interrupt();

  [[nodiscard]] double measuring_seconds() const { return measuring_; }
  [[nodiscard]] double writing_seconds() const { return writing_; }
  [[nodiscard]] std::size_t frames() const;

 private:
  [[nodiscard]] bool due(std::int64_t period) const;
  [[nodiscard]] io::checkpoint read_checkpoint() const;
  measurement measure();
  void write_frame();
  void write_collection();
  void write_checkpoint();
  void write_statistics();
  void write_preview();

  const run_plan& plan_;
  simulation& model_;
  output_folder& folder_;
  statistics_table table_;
  std::vector<io::pvd_entry> frames_;  ///< one file for each format
  std::optional<std::uint64_t> saved_step_;
  double measuring_ = 0;
  double writing_ = 0;
};

}  // namespace quadrat::program
