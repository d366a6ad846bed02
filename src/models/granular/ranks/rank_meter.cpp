// SPDX-License-Identifier: BSD-3-Clause
#include "models/granular/ranks/rank_meter.hpp"

#include <algorithm>
#include <bit>

#include "core/backend.hpp"
#include "distributed/particles/reduction_by_id.hpp"
#include "models/granular/measure.hpp"
#include "quadrat/distributed/key_reducer.hpp"
#include "quadrat/parallel/sort.hpp"

namespace quadrat::detail {

namespace {

template <typename T>
struct pack_grain {
  const packed_record<T, 3>* positions;
  const velocity_record<T>* velocities;
  sent_grain<T>* rows;

  QUADRAT_HD void operator()(std::size_t i) const {
    rows[i] = {positions[i].position, velocities[i].velocity, velocities[i].id};
  }
};

template <typename T>
struct id_of_row {
  const sent_grain<T>* rows;
  std::uint32_t* keys;

  QUADRAT_HD void operator()(std::size_t i) const { keys[i] = rows[i].id; }
};

template <typename T>
struct unpack_in_order {
  const sent_grain<T>* rows;
  const std::uint32_t* order;
  vec<T, 3>* positions;
  vec<T, 3>* velocities;

  QUADRAT_HD void operator()(std::size_t i) const {
    const sent_grain<T>& row = rows[order[i]];
    positions[i] = row.position;
    velocities[i] = row.velocity;
  }
};

/// The contribution of the i-th grain in order of id; zero for a ghost.
template <typename View, typename T>
struct measure_own {
  measure_grain<View, T> body;
  const std::uint32_t* order;
  std::size_t own;

  QUADRAT_HD granular_totals operator()(std::size_t i) const { return order[i] < own ? body(i) : granular_totals{}; }
};

struct totals_of_grain {
  granular_totals totals;
  std::uint64_t id;
};

template <typename View, typename T>
struct store_totals {
  measure_own<View, T> measured;
  const sent_grain<T>* rows;
  totals_of_grain* results;

  QUADRAT_HD void operator()(std::size_t i) const {
    const std::uint32_t row = measured.order[i];
    if (row < measured.own) results[row] = {measured.body(i), rows[row].id};
  }
};

/// The grains in the cells that a rank now owns, and ghosts of all cells around, in order of id. So the neighbors of a
/// grain have the same order as on one rank.
template <typename Context, typename T>
struct measured_grains {
  measured_grains(const Context& context, communicator& ranks, const granular_setup<T>& setup,
                  const grains_of_rank<Context, T>& grains)
      : rows(context, 0), positions(context, 0), velocities(context, 0) {
    bring_home(context, ranks, setup, grains);
    for (int copy = 0; copy < 2; ++copy) {
      keys[copy].resize_discarding(context, rows.size());
      order[copy].resize_discarding(context, rows.size());
    }
    for_each(context, "granular.ids", rows.size(), id_of_row<T>{rows.data(), keys[0].data()});
    const sort_buffers<std::uint32_t> buffers{{keys[0].data(), keys[1].data()}, {order[0].data(), order[1].data()}};
    const int bits = key_bits_for(std::max<std::uint64_t>(setup.count, 1));
    sorted = sort_pairs(context, buffers, rows.size(), bits, scratch, sort_values::index);
    positions.resize_discarding(context, rows.size());
    velocities.resize_discarding(context, rows.size());
    for_each(context, "granular.by id", rows.size(),
             unpack_in_order<T>{rows.data(), order[sorted].data(), positions.data(), velocities.data()});
  }

  array<sent_grain<T>, Context> rows;  ///< the own ones, then ghosts
  std::size_t own = 0;
  array<std::uint32_t, Context> keys[2], order[2];
  int sorted = 0;
  array<vec<T, 3>, Context> positions, velocities;
  workspace<Context> scratch;

 private:
  static points_view<T, 3> points(const array<sent_grain<T>, Context>& some, std::size_t count) {
    const T* const first = count == 0 ? nullptr : some.data()->position.component;
    return strided_points<3>(first, count, sizeof(sent_grain<T>) / sizeof(T));
  }
  void bring_home(const Context& context, communicator& ranks, const granular_setup<T>& setup,
                  const grains_of_rank<Context, T>& grains) {
    static_assert(sizeof(sent_grain<T>) % sizeof(T) == 0);
    const auto leaving = rows_of_grains(context, grains);
    array<std::uint32_t, Context> owners(context, leaving.size());
    find_owners(context, grains.shares(), setup.space, points(leaving, leaving.size()), owners.data());
    migration<Context> moves(context, ranks);
    moves.build(owners.data(), leaving.size());
    own = moves.arriving();
    array<sent_grain<T>, Context> arrived(context, own);
    moves.apply(leaving.data(), arrived.data());

    // The cells around a cell extend one edge away.
    T reach = setup.law.diameter;
    for (int axis = 0; axis < 3; ++axis) reach = std::max(reach, setup.space.edge(axis));
    halo<Context, T, 3> around(context, ranks);
    around.build(setup.space, grains.shares(), points(arrived, own), {reach});
    rows.resize_discarding(context, own + around.ghosts());
    copy_bytes(context, arrived.data(), rows.data(), own * sizeof(sent_grain<T>));
    around.forward(rows.data());
    context.synchronize();
  }
};

}  // namespace

template <typename Context, typename T>
array<sent_grain<T>, Context> rows_of_grains(const Context& context, const grains_of_rank<Context, T>& grains) {
  array<sent_grain<T>, Context> rows(context, grains.own_);
  for_each(context, "granular.pack", grains.own_, pack_grain<T>{grains.positions(), grains.velocities(), rows.data()});
  return rows;
}

template <typename Context, typename T>
granular_state<T> grains_by_id(const Context& context, communicator& ranks, const grains_of_rank<Context, T>& grains,
                               std::size_t count) {
  const auto rows = rows_of_grains(context, grains);
  const auto mine = rows_sent_by_id(context, ranks, rows.data(), rows.size(), owner_by_share(count, ranks.size()));
  const key_share ids = keys_of_rank(count, ranks.rank(), ranks.size());
  granular_state<T> state;
  state.positions.resize(static_cast<std::size_t>(ids.end - ids.first));
  state.velocities.resize(state.positions.size());
  for (const sent_grain<T>& one : mine) {
    const auto place = static_cast<std::size_t>(one.id - ids.first);
    state.positions[place] = one.position;
    state.velocities[place] = one.velocity;
  }
  return state;
}

template <typename Context, typename T>
granular_statistics measure_ranks(const Context& context, communicator& ranks, const granular_setup<T>& setup,
                                  const granular_parameters& parameters, const grains_of_rank<Context, T>& grains) {
  measured_grains<Context, T> all(context, ranks, setup, grains);
  typename cell_methods::counting::type<Context, T, 3> cells(context, setup.space, {.fold_reach = setup.law.diameter});
  const points_view<T, 3> points = points_of(all.positions.data(), all.positions.size());
  together(ranks, [&] { cells.build(points); });
  const vec<double, 3> lower = cast<double>(setup.space.domain.lower);
  using view_type = typename decltype(cells)::view_type;
  const measure_own<view_type, T> measured{
      {cells.view(), points, all.velocities.data(), setup.law.diameter, lower}, all.order[all.sorted].data(), all.own};

  granular_totals totals;
  if (context.reproducibility() != determinism::canonical) {
    const auto mine =
        reduce(context, "granular.measure", points.size(), measured, join_totals{}, granular_totals{}, all.scratch);
    for (const granular_totals& one : all_values(ranks, mine)) totals = join_totals{}(totals, one);
    return statistics_of(totals, parameters, lower, setup.count);
  }
  array<totals_of_grain, Context> results(context, all.own);
  for_each(context, "granular.measure own", points.size(),
           store_totals<view_type, T>{measured, all.rows.data(), results.data()});
  const typename reduction_shares_of<Context>::type shares(setup.count, ranks.size());
  const auto arrived = rows_sent_by_id(context, ranks, results.data(), results.size(), shares);
  std::vector<granular_totals> table(shares.places(ranks.rank()));
  for (const totals_of_grain& one : arrived) table[shares.place(one.id)] = one.totals;
  totals = reduce_by_id(ranks, shares, table, join_totals{}, granular_totals{});
  return statistics_of(totals, parameters, lower, setup.count);
}

#define QUADRAT_INSTANTIATE(T)                                                                                \
  template array<sent_grain<T>, backend_context> rows_of_grains(const backend_context&,                       \
                                                                const grains_of_rank<backend_context, T>&);   \
  template granular_state<T> grains_by_id(const backend_context&, communicator&,                              \
                                          const grains_of_rank<backend_context, T>&, std::size_t);            \
  template granular_statistics measure_ranks(const backend_context&, communicator&, const granular_setup<T>&, \
                                             const granular_parameters&, const grains_of_rank<backend_context, T>&);
QUADRAT_INSTANTIATE(float)
QUADRAT_INSTANTIATE(double)
#undef QUADRAT_INSTANTIATE

}  // namespace quadrat::detail
