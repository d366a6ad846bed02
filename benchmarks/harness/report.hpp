// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/settings.hpp"
#include "harness/timing.hpp"

namespace quadrat::bench {

/// One line of the result. The keys before "median_ms" say what was measured, the others are the results.
using row = nlohmann::ordered_json;

/// The first keys of every row; add more with row["key"] = value.
[[nodiscard]] row identify(std::string_view operation, std::string_view method, std::string_view precision,
                           std::size_t n, std::size_t cells, std::string_view distribution);

/// Adds the times, and `things` a median time under `rate` ("inserts_per_s").
void add_timing(row& target, const timing& measured, const char* rate, double things);

/// Collects rows: prints each as it arrives, and saves them all as {"meta": ..., "rows": [...]}, with "skipped" and
/// "failed" if there are any.
class report {
 public:
  /// Throws io_error at once if the requested file cannot be written, rather than after minutes. With
  /// settings::resume its cases are kept, if they are of the same device, threads and effort; throws data_error if not.
  explicit report(const settings& asked);

  void add(const row& measured);
  /// The same without a line.
  void keep(const row& result) { rows_.push_back(result); }
  /// A row that is not possible on this machine or in this call. Not an error.
  void skip(const row& identity, std::string_view reason);
  /// A row that failed.
  void fail(const row& identity, std::string_view reason);
  /// The same thing timed twice, for "noise" in the meta data.
  void add_noise(const row& identity, double first_ms, double second_ms);
  void headline(std::string_view text) const;

  /// Whether a case of a choice was measured before, in the run that this one resumes.
  [[nodiscard]] bool has_case(std::string_view operation, std::string_view grid, std::size_t number) const;

  [[nodiscard]] std::size_t rows() const { return rows_.size(); }
  [[nodiscard]] const row& all_rows() const { return rows_; }
  [[nodiscard]] std::size_t failures() const { return failed_.size(); }
  /// Writes the rows so far, if a file was requested; completely or not at all. Throws io_error. Until the last call
  /// the metadata say that the result is incomplete.
  void save(bool complete);

 private:
  void resume(const settings& asked);

  std::filesystem::path target_;
  row meta_;
  std::set<std::string> cases_;  // resumed
  row rows_ = row::array();
  row skipped_ = row::array();
  row failed_ = row::array();
};

}  // namespace quadrat::bench
