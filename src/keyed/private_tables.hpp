// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "keyed/cost.hpp"
#include "keyed/engine.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/types.hpp"

namespace quadrat::detail {

/// Each part of the elements has a table of results; tables are joined in order. A small table has several rows per
/// key, which successive elements use in turn, so that an addition need not wait for the previous one with the same
/// key. If tables would be large compared with the elements or the caches, or rows are longer than expected, each
/// thread instead reads all keys and joins the elements of a range of keys. If sums must be the same in every run, the
/// number of parts is fixed; otherwise there is one part per thread.
class private_tables_engine : public typed_key_engine<cpu_context, private_tables_engine> {
 public:
  private_tables_engine(const cpu_context& context, const key_setup& setup) : context_(context), setup_(setup) {}

  [[nodiscard]] std::size_t bytes_needed(std::size_t count) const override {
    return table_parts(count) * part_words() * sizeof(std::uint64_t);
  }
  void set_keys(const key_source& keys) override;
  void count(std::uint64_t* results, bool accumulate) override;
  [[nodiscard]] std::size_t bytes() const override { return tables_.bytes(); }
  template <typename T>
  void run(const key_reduction<T>& reduction);
  /// Where the threads' ranges of keys begin, and the number of keys. Empty with tables, or with one
  /// thread.
  [[nodiscard]] const std::vector<std::uint32_t>& ranges() const { return ranges_; }

 private:
  /// Number of tables for `count` elements; 0: ranges of keys.
  [[nodiscard]] std::size_t table_parts(std::size_t count) const;
  [[nodiscard]] std::size_t row_words() const;
  [[nodiscard]] std::size_t part_words() const;
  template <typename Fold, int Components, typename T, typename Source, typename Rows>
  void join(const Source& source, const Rows& results, int components, bool accumulate);
  template <typename Fold, int Components, std::size_t Copies, typename T, typename Source, typename Rows>
  void join_tables(const Source& source, const Rows& results, int components, bool accumulate);
  template <typename Fold, int Components, typename Source, typename Rows>
  void join_ranges(const Source& source, const Rows& results, int components, bool accumulate);

  cpu_context context_;
  key_setup setup_;
  key_source keys_{};
  array<std::uint64_t, cpu_context> tables_;  // each with room for rows of row_words
  std::vector<std::uint32_t> ranges_;
};

struct private_tables_method : key_method_defaults {
  static constexpr std::string_view name = "private_tables";
  static constexpr std::string_view summary = "a table or a range of keys per thread";
  static constexpr bool on_cpu = true;
  static constexpr bool on_cuda = false;
  static constexpr determinism reproducible = determinism::run_to_run;
  static method_cost cost(const key_request& request);
  template <typename Context>
  using engine = private_tables_engine;
};

}  // namespace quadrat::detail
