// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "quadrat/io/checkpoint.hpp"
#include "quadrat/io/particle_frame.hpp"
#include "quadrat/io/png.hpp"
#include "quadrat/models/rank_report.hpp"
#include "quadrat/tune/explanation.hpp"

namespace quadrat::program {

/// One number of a measurement, with its name in files.
struct measured_value {
  std::string_view name;
  double value;
  bool whole = false;  ///< it is a count
};

/// The measurement of one step. The names are the same at every step.
struct measurement {
  std::uint64_t step = 0;
  std::vector<measured_value> values;

  /// 0 where there is no such name.
  [[nodiscard]] double operator[](std::string_view name) const;
  [[nodiscard]] std::vector<std::string_view> names() const;
};

/// The result of a whole run, in numbers and words. Empty if the model or the scene defines none.
struct run_result {
  std::vector<measured_value> values;
  std::string words;
};

/// Numbers collected during a run, as CSV. The file is NAME.csv.
struct run_csv {
  std::string_view name;  ///< one of run_csv_names
  std::string text;
};

inline constexpr std::array<std::string_view, 2> run_csv_names{"steps", "profile"};

/// A simulation of any model, device and precision.
class simulation {
 public:
  virtual ~simulation() = default;

  /// Takes steps and waits for them. Throws data_error or overflow_error that names the step.
  virtual void run(std::size_t steps) = 0;
  [[nodiscard]] virtual measurement measure() = 0;
  /// The names of the values of `measure`.
  [[nodiscard]] virtual std::vector<std::string_view> measured_names() const = 0;
  /// Describes a measurement in words, for the summary.
  [[nodiscard]] virtual std::string in_words(const measurement& now) const = 0;
  /// Tables recorded besides measurements.
  [[nodiscard]] virtual std::vector<run_csv> tables() const { return {}; }
  [[nodiscard]] virtual run_result result() const { return {}; }

  /// The present state for a frame file, without the time.
  [[nodiscard]] virtual io::particle_frame frame() = 0;
  /// The present state as a picture.
  [[nodiscard]] virtual io::image draw() = 0;

  /// All state that `restore` needs, without the parameters.
  [[nodiscard]] virtual io::checkpoint save() = 0;
  /// Throws io_error if the checkpoint lacks something or has another number of particles.
  virtual void restore(const io::checkpoint& state) = 0;

  /// Whether several ranks write files together. Then the next three functions replace `frame`, `save`, and the reading
  /// of a checkpoint.
  [[nodiscard]] virtual bool shares_files() const { return false; }
  /// Writes a frame: .pvtp, .pvtu or .xyz.
  virtual void write_frame(const std::filesystem::path&, double) {}
  /// Writes a checkpoint with the present state and the contents of `rest`.
  virtual void write_checkpoint(const std::filesystem::path&, const io::checkpoint&) {}
  /// Reads a checkpoint, and returns it without the particles; `restore` has access to those.
  [[nodiscard]] virtual io::checkpoint read_checkpoint(const std::filesystem::path&) { return {}; }

  [[nodiscard]] virtual std::uint64_t step() const = 0;
  [[nodiscard]] virtual std::size_t size() const = 0;
  [[nodiscard]] virtual std::size_t memory_bytes() const = 0;
  [[nodiscard]] virtual std::string method() const = 0;
  /// Explains automatic choices, and when they changed; empty if the model makes none.
  [[nodiscard]] virtual std::optional<explanation> explained() const { return {}; }
  /// "cpu" or "cuda".
  [[nodiscard]] virtual std::string backend() const = 0;
  [[nodiscard]] virtual std::string device_name() const = 0;
  /// Host threads that compute; 0 on a GPU.
  [[nodiscard]] virtual int threads() const = 0;
  /// By rank; empty without ranks.
  [[nodiscard]] virtual std::vector<rank_report> rank_reports() { return {}; }
};

}  // namespace quadrat::program
