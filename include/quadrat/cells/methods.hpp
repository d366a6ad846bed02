// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string_view>
#include <type_traits>

#include "quadrat/cells/counting.hpp"
#include "quadrat/cells/fixed.hpp"
#include "quadrat/cells/hashed.hpp"
#include "quadrat/cells/linked.hpp"
#include "quadrat/cells/linked_packed.hpp"
#include "quadrat/cells/linked_tight.hpp"
#include "quadrat/cells/sorted.hpp"
#include "quadrat/core/method.hpp"
#include "quadrat/core/method_list.hpp"

namespace quadrat {

/// All cell lists, by name. Options of the program, tests, benchmarks and the automatic choice read this list. To add a
/// method, add its file and a line here. Each has, for `Method::type<Context, T, D>` (T float or double, D 2 or 3): a
/// constructor (context, grid, cell_list_options), build(points), build_async(points), reserve(points), check(),
/// view(), space(), bytes().
using cell_list_methods = method_list<cell_methods::fixed,                    //
                                      cell_methods::fixed_row_major,          //
                                      cell_methods::counting,                 //
                                      cell_methods::sorted,                   //
                                      cell_methods::sorted_morton,            //
                                      cell_methods::sorted_hilbert,           //
                                      cell_methods::sorted_peano,             //
                                      cell_methods::linked_loose,             //
                                      cell_methods::linked_loose_low_vertex,  //
                                      cell_methods::linked_packed,            //
                                      cell_methods::linked_tight,             //
                                      cell_methods::hashed>;

/// Their names and summaries, in the same order.
[[nodiscard]] std::span<const method_info> cell_lists();

/// Calls f(std::type_identity<CellList>{}) for the named cell list. Throws argument_error for an unknown name, and
/// lists the valid ones, most similar first.
template <typename Context, typename T, int D, typename F>
void with_cell_list(std::string_view name, F&& f) {
  cell_list_methods::with("cell list", name, [&](auto method) {
    f(std::type_identity<typename decltype(method)::template type<Context, T, D>>{});
  });
}

}  // namespace quadrat
