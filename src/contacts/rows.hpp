// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "contacts/count_fill.hpp"
#include "contacts/families.hpp"
#include "parallel/count_limit.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/for_each_part.hpp"

namespace quadrat::detail {

/// Rows in which an engine has arranged bodies, each pair in exactly one. Two passes find their pairs.
/// Asynchronous.
template <typename Sink>
class row_passes {
 public:
  /// Below 2^31.
  [[nodiscard]] std::size_t rows() const { return rows_; }
  /// Sets counts[r] to the number of contacts or pairs of row r. May end at the limit.
  virtual void count(std::uint32_t* counts, count_limit& limit) const = 0;
  /// Writes the offsets[r + 1] - offsets[r] results of row r, from offsets[r] on, as far as the sink has room for all
  /// of them.
  virtual void fill(const Sink& sink, const std::uint64_t* offsets) const = 0;

 protected:
  explicit row_passes(std::size_t rows) : rows_(rows) {}
  ~row_passes() = default;

 private:
  std::size_t rows_;
};

/// Calls body(row) for each row, as for_each does. In a crowd some rows take far longer than others, so threads take a
/// few at a time. A step of `work` costs as much as in other loops that start threads.
template <typename Body>
void for_each_row(const cpu_context& context, std::size_t rows, std::size_t work, const Body& body) {
  constexpr std::size_t worth_a_team = 2048, parts_of_a_thread = 32, least_rows = 8;
  const std::size_t most = parts_of_a_thread * static_cast<std::size_t>(context.threads());
  const bool team = work >= worth_a_team && context.threads() > 1;
  const std::size_t parts = team ? std::min((rows + least_rows - 1) / least_rows, most) : 1;
  const auto visit = [&](std::size_t part) {
    const std::size_t end = rows * (part + 1) / parts;
    for (std::size_t row = rows * part / parts; row < end; ++row) body(row);
  };
  for_each_part(context.threads(), parts, visit, part_order::as_threads_are_free);
}

/// The rows of `Search`, whose function visit(row, f) calls f(body, body) for each pair that may touch, tested by
/// `Family`.
template <typename Context, typename Search, typename Family, typename Sink>
class searched_rows final : public row_passes<Sink> {
 public:
  searched_rows(const Context& context, std::size_t rows, const Search& search, const Family& family)
      : row_passes<Sink>(rows), context_(context), search_(search), family_(family) {}

  void count(std::uint32_t* counts, count_limit& limit) const override {
    const count_row<Search, Family> body{search_, family_, counts};
    const std::size_t rows = this->rows();
    if constexpr (std::is_same_v<Context, cpu_context>) {
      constexpr std::size_t steps_of_a_row = 4;  // at least: candidates tested
      for_each_row(context_, rows, steps_of_a_row * rows, limited_rows<count_row<Search, Family>>{body, &limit});
    } else {
      for_each(context_, of_pairs ? "contacts.pairs.count" : "contacts.count", rows, body);
    }
  }
  void fill(const Sink& sink, const std::uint64_t* offsets) const override {
    const fill_row<Search, Family, Sink> body{search_, family_, sink, offsets};
    const std::size_t rows = this->rows();
    if constexpr (std::is_same_v<Context, cpu_context>) {
      for_each_row(context_, rows, rows + static_cast<std::size_t>(offsets[rows]), body);
    } else {
      for_each(context_, of_pairs ? "contacts.pairs.fill" : "contacts.fill", rows, body);
    }
  }

 private:
  static constexpr bool of_pairs = std::is_same_v<Sink, pair_sink>;

  const Context& context_;
  Search search_;
  Family family_;
};

}  // namespace quadrat::detail
