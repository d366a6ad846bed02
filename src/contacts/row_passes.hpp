// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "contacts/count_fill.hpp"
#include "contacts/engine.hpp"
#include "quadrat/parallel/for_each.hpp"

/// The kernels of row_engine: for the sources of engines, so that each is compiled once.
namespace quadrat::detail {

template <typename Context, typename Search, typename Family>
void count_rows(const Context& context, const char* name, std::size_t rows, const Search& search, const Family& family,
                std::uint32_t* counts, count_limit& limit) {
  const count_row<Search, Family> body{search, family, counts};
  if constexpr (std::is_same_v<Context, cpu_context>) {
    for_each(context, name, rows, limited_rows<count_row<Search, Family>>{body, &limit});
  } else {
    for_each(context, name, rows, body);
  }
}

template <typename Context, typename Search, typename Family, typename Sink>
void fill_rows(const Context& context, const char* name, std::size_t rows, const Search& search, const Family& family,
               const Sink& sink, const std::uint64_t* offsets) {
  for_each(context, name, rows, fill_row<Search, Family, Sink>{search, family, sink, offsets});
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
