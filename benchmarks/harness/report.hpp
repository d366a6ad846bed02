// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "harness/settings.hpp"
#include "harness/timing.hpp"

namespace quadrat::bench {

/// One line of the result. What stands before "median_ms" says what was measured, the rest what came out.
using row = nlohmann::ordered_json;

/// What every row says first; `add` more with row["key"] = value.
[[nodiscard]] row identify(std::string_view operation, std::string_view method, std::string_view precision,
                           std::size_t n, std::size_t cells, std::string_view distribution);

/// Adds the times, and `things` a median time under `rate` ("inserts_per_s").
void add_timing(row& target, const timing& measured, const char* rate, double things);

/// Collects rows: prints each as it comes, and saves them all as {"meta": ..., "rows": [...]}, with "skipped" and
/// "failed" where there are such.
class report {
 public:
  /// Throws io_error when the file that was asked for cannot be written: now, and not after minutes.
  explicit report(const settings& asked);

  void add(const row& measured);
  /// A row that this machine or this call has no place for. No error.
  void skip(const row& identity, std::string_view reason);
  /// A row that went wrong.
  void fail(const row& identity, std::string_view reason);
  /// The same thing timed twice, for "noise" in the meta data.
  void add_noise(const row& identity, double first_ms, double second_ms);
  void headline(std::string_view text) const;

  [[nodiscard]] std::size_t rows() const { return rows_.size(); }
  [[nodiscard]] std::size_t failures() const { return failed_.size(); }
  /// Writes what there is so far, if a file was asked for; whole or not at all. Throws io_error. Until the last call
  /// the meta data say that the result is not complete.
  void save(bool complete);

 private:
  std::filesystem::path target_;
  row meta_;
  row rows_ = row::array();
  row skipped_ = row::array();
  row failed_ = row::array();
};

}  // namespace quadrat::bench
