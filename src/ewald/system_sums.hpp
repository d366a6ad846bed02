// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "ewald/domain.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/reduce.hpp"
#include "quadrat/parallel/workspace.hpp"

/// Sums over the slots, or the modes, of each system, in an order that depends only on their number.
namespace quadrat::detail {

/// Parts of a system, each summed by one thread.
template <typename Ranges, typename Map, typename Value>
struct sum_part {
  Ranges ranges;
  Map map;
  std::size_t parts;
  Value* partial;

  QUADRAT_HD void operator()(std::size_t index) const {
    const auto system = static_cast<std::uint32_t>(index / parts);
    const std::size_t last = ranges.begin_of(system + 1);
    Value sum{};
    for (std::size_t i = ranges.begin_of(system) + index % parts; i < last; i += parts) sum = sum + map(i);
    partial[index] = sum;
  }
};

/// Index: system.
template <typename Value>
struct join_parts {
  const Value* partial;
  std::size_t parts;
  Value* result;

  QUADRAT_HD void operator()(std::size_t system) const {
    Value sum{};
    for (std::size_t k = 0; k < parts; ++k) sum = sum + partial[system * parts + k];
    result[system] = sum;
  }
};

/// result[s] = sum of map(i) over the indices [ranges.begin_of(s), ranges.begin_of(s + 1)), which together are [0,
/// count). `Value` has + and is zero as Value{}. Asynchronous.
template <typename Context, typename Ranges, typename Map, typename Value>
void sum_by_system(const Context& context, const Ranges& ranges, std::size_t systems, std::size_t count, const Map& map,
                   Value* result, workspace<Context>& scratch) {
  if (systems == 1) {
    reduce_into(context, "ewald.sum", count, map, plus_operation{}, Value{}, result, scratch);
    return;
  }
  const std::size_t parts = std::clamp<std::size_t>(count / systems / 64, 16, 1024);
  auto* const partial = reinterpret_cast<Value*>(scratch.request(context, systems * parts * sizeof(Value)));
  for_each(context, "ewald.sum_parts", systems * parts, sum_part<Ranges, Map, Value>{ranges, map, parts, partial});
  for_each(context, "ewald.join_parts", systems, join_parts<Value>{partial, parts, result});
}

}  // namespace quadrat::detail
