// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "contacts/count_fill.hpp"
#include "contacts/engine.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/team_error.hpp"

/// The kernels of row_engine: for the sources of engines, so that each is compiled once.
namespace quadrat::detail {

/// Calls body(row) for each row, as for_each does. In a crowd some rows take far longer than others, so threads take a
/// few at a time. `work` is in steps that are worth as much as those of other loops that start threads.
template <typename Body>
void for_each_row(const cpu_context& context, std::size_t rows, std::size_t work, const Body& body) {
  constexpr std::size_t worth_a_team = 2048, parts_of_a_thread = 32, least_rows = 8;
  const std::size_t most = parts_of_a_thread * static_cast<std::size_t>(context.threads());
  const bool team = work >= worth_a_team && context.threads() > 1;
  const std::size_t parts = team ? std::min((rows + least_rows - 1) / least_rows, most) : 1;
  team_error error;
#pragma omp parallel for schedule(dynamic, 1) num_threads(context.threads()) if (parts > 1)
  for (std::size_t part = 0; part < parts; ++part) {
    error.guard(static_cast<std::int64_t>(part), [&] {
      const std::size_t end = rows * (part + 1) / parts;
      for (std::size_t row = rows * part / parts; row < end; ++row) body(row);
    });
  }
  error.rethrow();
}

template <typename Context, typename Search, typename Family>
void count_rows(const Context& context, [[maybe_unused]] const char* name, std::size_t rows, const Search& search,
                const Family& family, std::uint32_t* counts, count_limit& limit) {
  const count_row<Search, Family> body{search, family, counts};
  if constexpr (std::is_same_v<Context, cpu_context>) {
    constexpr std::size_t steps_of_a_row = 4;  // at least: candidates tested
    for_each_row(context, rows, steps_of_a_row * rows, limited_rows<count_row<Search, Family>>{body, &limit});
  } else {
    for_each(context, name, rows, body);
  }
}

template <typename Context, typename Search, typename Family, typename Sink>
void fill_rows(const Context& context, [[maybe_unused]] const char* name, std::size_t rows, const Search& search,
               const Family& family, const Sink& sink, const std::uint64_t* offsets) {
  const fill_row<Search, Family, Sink> body{search, family, sink, offsets};
  if constexpr (std::is_same_v<Context, cpu_context>) {
    for_each_row(context, rows, rows + static_cast<std::size_t>(offsets[rows]), body);
  } else {
    for_each(context, name, rows, body);
  }
}

template <typename Engine, typename Context, typename T>
void row_engine<Engine, Context, T>::count(const sphere_family<T>& family, std::uint32_t* counts,
                                           count_limit& limit) const {
  count_rows(this->context(), "contacts.count", this->rows(), self().search(), family, counts, limit);
}

template <typename Engine, typename Context, typename T>
void row_engine<Engine, Context, T>::fill(const sphere_family<T>& family, const contact_sink<T>& sink,
                                          const std::uint64_t* offsets) const {
  fill_rows(this->context(), "contacts.fill", this->rows(), self().search(), family, sink, offsets);
}

template <typename Engine, typename Context, typename T>
void row_engine<Engine, Context, T>::count(const box_family<T>& family, std::uint32_t* counts,
                                           count_limit& limit) const {
  count_rows(this->context(), "contacts.pairs.count", this->rows(), self().search(), family, counts, limit);
}

template <typename Engine, typename Context, typename T>
void row_engine<Engine, Context, T>::fill(const box_family<T>& family, const pair_sink& sink,
                                          const std::uint64_t* offsets) const {
  fill_rows(this->context(), "contacts.pairs.fill", this->rows(), self().search(), family, sink, offsets);
}

}  // namespace quadrat::detail
