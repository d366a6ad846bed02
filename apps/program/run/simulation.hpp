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

/// One number of a measurement, under the name that it has in files.
struct measured_value {
  std::string_view name;
  double value;
  bool whole = false;  ///< a count
};

/// What a simulation says about one step; the names are the same at every step.
struct measurement {
  std::uint64_t step = 0;
  std::vector<measured_value> values;

  /// 0 where there is no such name.
  [[nodiscard]] double operator[](std::string_view name) const;
  [[nodiscard]] std::vector<std::string_view> names() const;
};

/// What a run shows as a whole, in numbers and in words. Empty where the model or the scene asks for nothing.
struct run_result {
  std::vector<measured_value> values;
  std::string words;
};

/// Numbers that were gathered in the course of a run, as CSV; the file is called NAME.csv.
struct run_csv {
  std::string_view name;  ///< one of run_csv_names
  std::string text;
};

inline constexpr std::array<std::string_view, 2> run_csv_names{"steps", "profile"};

/// A simulation of some model on some device in some precision.
class simulation {
 public:
  virtual ~simulation() = default;

  /// Takes steps and waits for them. Throws data_error or overflow_error, which name the step.
  virtual void run(std::size_t steps) = 0;
  [[nodiscard]] virtual measurement measure() = 0;
  /// The names that `measure` will give.
  [[nodiscard]] virtual std::vector<std::string_view> measured_names() const = 0;
  /// A measurement in words, for the summary.
  [[nodiscard]] virtual std::string in_words(const measurement& now) const = 0;
  /// What was recorded besides measurements.
  [[nodiscard]] virtual std::vector<run_csv> tables() const { return {}; }
  [[nodiscard]] virtual run_result result() const { return {}; }

  /// The present state as files hold it, without the time.
  [[nodiscard]] virtual io::particle_frame frame() = 0;
  /// The present state as a picture.
  [[nodiscard]] virtual io::image draw() = 0;

  /// Everything that a later `restore` needs, without the parameters.
  [[nodiscard]] virtual io::checkpoint save() = 0;
  /// Throws io_error when the checkpoint lacks something or has another number of particles.
  virtual void restore(const io::checkpoint& state) = 0;

  /// Whether several ranks write files together. The next three are then called in place of `frame`, `save` and what
  /// reads the checkpoint for `restore`.
  [[nodiscard]] virtual bool shares_files() const { return false; }
  /// Writes a frame: .pvtp, .pvtu or .xyz.
  virtual void write_frame(const std::filesystem::path&, double) {}
  /// Writes a checkpoint with the present state and what `rest` has.
  virtual void write_checkpoint(const std::filesystem::path&, const io::checkpoint&) {}
  /// Reads one, and returns it without the particles, which `restore` finds.
  [[nodiscard]] virtual io::checkpoint read_checkpoint(const std::filesystem::path&) { return {}; }

  [[nodiscard]] virtual std::uint64_t step() const = 0;
  [[nodiscard]] virtual std::size_t size() const = 0;
  [[nodiscard]] virtual std::size_t memory_bytes() const = 0;
  [[nodiscard]] virtual std::string method() const = 0;
  /// What was chosen for the user, and when; nothing where the model has no choice.
  [[nodiscard]] virtual std::optional<explanation> explained() const { return {}; }
  /// "cpu" or "cuda".
  [[nodiscard]] virtual std::string backend() const = 0;
  [[nodiscard]] virtual std::string device_name() const = 0;
  /// Host threads that compute; 0 on a GPU.
  [[nodiscard]] virtual int threads() const = 0;
  /// By rank; none without ranks.
  [[nodiscard]] virtual std::vector<rank_report> rank_reports() { return {}; }
};

}  // namespace quadrat::program
