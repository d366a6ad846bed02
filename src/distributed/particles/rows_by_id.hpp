// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "quadrat/core/array.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/distributed/communicator.hpp"
#include "quadrat/distributed/key_reducer.hpp"
#include "quadrat/distributed/migration.hpp"
#include "quadrat/parallel/for_each.hpp"

/// Sends rows of particles to ranks by global id. For results that must not depend on which rank owns which particle:
/// files, and sums in a fixed order.
namespace quadrat::detail {

/// The owner of an id if ranks own consecutive ids, as in keys_of_rank.
struct owner_of_consecutive {
  std::uint64_t width;

  QUADRAT_HD std::uint32_t operator()(std::uint64_t id) const { return static_cast<std::uint32_t>(id / width); }
};

[[nodiscard]] inline owner_of_consecutive owner_by_share(std::uint64_t count, int ranks) {
  const key_share first = keys_of_rank(count, 0, ranks);
  return {first.end > 0 ? first.end : 1};
}

template <typename Row, typename OwnerOf>
struct find_row_owner {
  const Row* rows;
  OwnerOf owner_of;
  std::uint32_t* owners;

  QUADRAT_HD void operator()(std::size_t i) const { owners[i] = owner_of(rows[i].id); }
};

/// The rows that owner_of(row.id) sends to this rank, in host memory, in order of the sending rank. `rows` is in memory
/// of the context; a row's size is a multiple of 4. Collective. Waits.
template <typename Context, typename Row, typename OwnerOf>
[[nodiscard]] std::vector<Row> rows_sent_by_id(const Context& context, communicator& ranks, const Row* rows,
                                               std::size_t count, const OwnerOf& owner_of) {
  array<std::uint32_t, Context> owners(context, count);
  for_each(context, "rows.owners", count, find_row_owner<Row, OwnerOf>{rows, owner_of, owners.data()});
  migration<Context> moves(context, ranks);
  moves.build(owners.data(), count);
  array<Row, Context> arrived(context, moves.arriving());
  moves.apply(rows, arrived.data());
  return to_host(context, arrived);
}

}  // namespace quadrat::detail
