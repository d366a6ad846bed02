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

/// One line of the result. Keys before "median_ms" identify the measurement; the others are results.
using row = nlohmann::ordered_json;

/// The first keys of every row; add more with row["key"] = value.
[[nodiscard]] row identify(std::string_view operation, std::string_view method, std::string_view precision,
                           std::size_t n, std::size_t cells, std::string_view distribution);

/// Adds the times, and the number of `things` per median time as `rate` ("inserts_per_s").
void add_timing(row& target, const timing& measured, const char* rate, double things);

/// Collects rows: prints each when it arrives, and saves all as {"meta": ..., "rows": [...]}, with "skipped" and
/// "failed" if there are any.
class report {
 public:
  /// Throws io_error at once, not after minutes, if the requested file cannot be written. With settings::resume it
  /// keeps the cases of that file; throws data_error unless they are of the same device, threads and effort.
  explicit report(const settings& asked);

  void add(const row& measured);
  /// Adds a row without printing it.
  void keep(const row& result) { rows_.push_back(result); }
  /// Notes a row that is not possible on this machine or in this call. Not an error.
  void skip(const row& identity, std::string_view reason);
  /// Notes a row that failed.
  void fail(const row& identity, std::string_view reason);
  /// Notes two times of the same work, for "noise" in the meta data.
  void add_noise(const row& identity, double first_ms, double second_ms);
  void headline(std::string_view text) const;

  /// Whether the resumed run has already measured a case of a choice.
  [[nodiscard]] bool has_case(std::string_view operation, std::string_view grid, std::size_t number) const;

  [[nodiscard]] std::size_t rows() const { return rows_.size(); }
  [[nodiscard]] const row& all_rows() const { return rows_; }
  [[nodiscard]] std::size_t failures() const { return failed_.size(); }
  /// Writes the rows so far, if a file was requested; completely or not at all. Until the last call the meta data say
  /// that the result is incomplete. Throws io_error.
  void save(bool complete);

 private:
  void resume(const settings& asked);

  std::filesystem::path target_;
  row meta_;
  std::set<std::string> cases_;  // of the resumed run
  row rows_ = row::array();
  row skipped_ = row::array();
  row failed_ = row::array();
};

}  // namespace quadrat::bench
