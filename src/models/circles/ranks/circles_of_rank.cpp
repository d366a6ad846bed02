// SPDX-License-Identifier: BSD-3-Clause
#include "models/circles/ranks/circles_of_rank.hpp"

#include <tuple>
#include <vector>

#include "core/backend.hpp"
#include "quadrat/parallel/reduce.hpp"
#include "quadrat/search/orders.hpp"

namespace quadrat::detail {

template <typename Context, typename T, int D>
circles_of_rank<Context, T, D>::circles_of_rank(const Context& context, communicator& ranks,
                                                const circles_setup<T, D>& setup)
    : base(context, ranks, setup.space),
      setup_(setup),
      reach_(static_cast<T>(setup.parameters.reach())),
      skin_(static_cast<T>(skin * setup.parameters.reach())),
      sine_law_(make_sine_law<T, D>(setup.parameters)),
      original_law_(make_original_law<T, D>(setup.parameters, setup.space.domain)),
      fixed_law_(make_fixed_law<T, D>(setup.parameters, setup.space.domain)),
      cells_(context, setup.space, {.accept_outside = true, .fold_reach = reach_}),
      ghosts_(context, ranks, exchange_) {}

template <typename Context, typename T, int D>
void circles_of_rank<Context, T, D>::load(const circles_state<T, D>& state, std::size_t first) {
  std::vector<record_type> agents(state.positions.size());
  for (std::size_t i = 0; i < agents.size(); ++i) agents[i] = {state.positions[i], static_cast<particle_id>(first + i)};
  own_ = agents.size();
  agents_ = to_device(context_, agents);
}

/// Chooses ghosts, and makes room for them behind the own agents.
template <typename Context, typename T, int D>
void circles_of_rank<Context, T, D>::exchange(bool /*balanced*/) {
  exchange_.leave(points());
  own_ = exchange_.arriving();
  exchange_.travel(std::tie(agents_));
  ghosts_.choose(points(), {reach_ + skin_});
  sent_ = false;
  before_.resize_discarding(context_, own_);
  copy_bytes(context_, agents_.data(), before_.data(), own_ * sizeof(record_type));
  const std::size_t all = own_ + ghosts_.number();
  make_room(context_, agents_, own_, all);
  carried_.resize_discarding(context_, all);
}

/// The record of the step from last_ to agents_.
template <typename Context, typename T, int D>
circles_record circles_of_rank<Context, T, D>::recorded() {
  const read_circles_totals<T, D> read{neighbors_.data(), last_.data(), agents_.data()};
  circles_totals all;
  if (context_.reproducibility() == determinism::canonical) {
    const circles_length_unit unit = unit_of_moves(setup_.parameters, D);
    circles_fixed_totals mine =
        reduce(context_, "circles.totals", own_, read_circles_fixed_totals<read_circles_totals<T, D>>{read, unit},
               join_circles_fixed_totals{}, circles_fixed_totals{}, scratch_);
    // Integers of either sign add up modulo 2^64.
    std::uint64_t words[4] = {mine.neighbors, mine.squared_neighbors, static_cast<std::uint64_t>(mine.whole),
                              static_cast<std::uint64_t>(mine.rest)};
    ranks_.add_up(words, 4);
    mine = {words[0], words[1], 0, static_cast<std::int64_t>(words[2]), static_cast<std::int64_t>(words[3]), 0};
    all = unit.rounded(mine);
  } else {
    const circles_totals mine =
        reduce(context_, "circles.totals", own_, read, join_circles_totals{}, circles_totals{}, scratch_);
    std::uint64_t sums[2] = {mine.neighbors, mine.squared_neighbors};
    ranks_.add_up(sums, 2);
    all = {sums[0], sums[1], 0, sum_in_rank_order(ranks_, mine.displacement), 0};
  }
  return averaged(all, setup_.count);
}

/// Only checks whether agents must change ranks.
template <typename Context, typename T, int D>
bool circles_of_rank<Context, T, D>::move(bool /*more*/) {
  return this->far_from(points_of_records<T, D>(before_.data(), own_), points(), skin_, "circles.moved");
}

/// Receives ghosts (if not sent already), builds cells, and walks.
template <typename Context, typename T, int D>
void circles_of_rank<Context, T, D>::finish(bool more) {
  sent_ ? ghosts_.receive() : ghosts_.fetch(agents_);
  sent_ = false;
  if (records_) {
    last_.resize_discarding(context_, own_);
    neighbors_.resize_discarding(context_, own_);
    copy_bytes(context_, agents_.data(), last_.data(), own_ * sizeof(record_type));
  }
  const carried_array arrays[] = {quadrat::carry(static_cast<const record_type*>(agents_.data()), carried_.data())};
  const std::size_t all = own_ + ghosts_.number();
  cells_.reserve(all);
  cells_.build_and_carry_async(points_of_records<T, D>(agents_.data(), all), arrays);
  if (context_.reproducibility() == determinism::canonical) {
    walk(fixed_law_, more);
  } else if (setup_.parameters.form == circles_form::sine) {
    walk(sine_law_, more);
  } else {
    walk(original_law_, more);
  }
}

/// Agents that are ghosts elsewhere come first: they travel while the others are moved.
template <typename Context, typename T, int D>
template <typename Law>
void circles_of_rank<Context, T, D>::walk(const Law& law, bool more) {
  if (!more || !worth_hiding_messages<Context>(ranks_)) return enqueue_walk(context_, law, circles_part::all);
  do_borders_first(
      context_, ghosts_.stream(), [&](const Context& first) { enqueue_walk(first, law, circles_part::with_copies); },
      [&] { enqueue_walk(context_, law, circles_part::without_copies); }, [&] { ghosts_.send(agents_); });
  sent_ = true;
}

template <typename Context, typename T, int D>
template <typename Law>
void circles_of_rank<Context, T, D>::enqueue_walk(const Context& context, const Law& law, circles_part part) {
  using body = circles_step_of_own<search_orders::trimmed, typename cell_list::view_type, Law, T, D>;
  for_each(context, "circles.move own", own_ + ghosts_.number(),
           body{cells_.view(), law, carried_.data(), agents_.data(), records_ ? neighbors_.data() : nullptr,
                static_cast<std::uint32_t>(own_), step_ + 1, run_fault{faults_.data()}, ghosts_.copies(), part});
}

template <typename Context, typename T, int D>
void circles_of_rank<Context, T, D>::gather(circles_state<T, D>& state) {
  place_by_id(gathered(ranks_, to_host(context_, agents_.data(), own_)), &record_type::position, state.positions);
}

template <typename Context, typename T, int D>
std::size_t circles_of_rank<Context, T, D>::bytes() const {
  return cells_.bytes() + ghosts_.bytes() + agents_.bytes() + before_.bytes() + carried_.bytes() + last_.bytes() +
         neighbors_.bytes();
}

template class circles_of_rank<backend_context, float, 2>;
template class circles_of_rank<backend_context, float, 3>;
template class circles_of_rank<backend_context, double, 2>;
template class circles_of_rank<backend_context, double, 3>;

}  // namespace quadrat::detail
