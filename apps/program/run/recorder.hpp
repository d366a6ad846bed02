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

/// Writes what a scene asks for, when it asks for it.
class recorder {
 public:
  recorder(const run_plan& plan, simulation& model, output_folder& folder);

  /// Begins a new run, and writes what belongs to step 0. Throws argument_error when the folder holds an earlier run
  /// that is not to be overwritten, or a file in the way that is not of a run; then nothing has been touched.
  void begin(bool overwrite);
  /// Puts the simulation into the state of the folder's checkpoint, and removes the frames that come after it. Throws
  /// io::scene_error, naming the key, when the checkpoint comes from another scene, io_error when there is none or it
  /// is damaged, argument_error when it is past the last step; then nothing has been touched.
  void resume();

  /// The next step after the present one at which `record` has something to do, or `last`.
  [[nodiscard]] std::uint64_t next_stop(std::uint64_t last) const;
  /// Does what is due at the present step: statistics, frame, checkpoint.
  void record();
  /// Writes the checkpoint of a run that was stopped, or has come to its end; that one only where there are to be some.
  /// Comes before `finish` or `interrupt`: whoever takes more steps from it must not have a row that a longer run would
  /// not have.
  void save_last(bool stopped);
  /// Writes what a finished run leaves besides: statistics, picture. Returns the last measurement.
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
  std::vector<io::pvd_entry> frames_;  ///< a file for each format
  std::optional<std::uint64_t> saved_step_;
  double measuring_ = 0;
  double writing_ = 0;
};

}  // namespace quadrat::program
