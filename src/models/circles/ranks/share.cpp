// SPDX-License-Identifier: BSD-3-Clause
#include "models/circles/ranks/share.hpp"

#include <type_traits>
#include <vector>

#include "core/backend.hpp"
#include "distributed/ranks/gathered.hpp"
#include "quadrat/parallel/reduce.hpp"
#include "quadrat/search/orders.hpp"

namespace quadrat::detail {

template <typename Context, typename T, int D>
circles_share<Context, T, D>::circles_share(const Context& context, communicator& ranks,
                                            const circles_setup<T, D>& setup)
    : context_(context),
      ranks_(ranks),
      setup_(setup),
      reach_(static_cast<T>(setup.parameters.reach())),
      skin_(static_cast<T>(skin * setup.parameters.reach())),
      sine_law_(make_sine_law<T, D>(setup.parameters)),
      original_law_(make_original_law<T, D>(setup.parameters, setup.space.domain)),
      fixed_law_(make_fixed_law<T, D>(setup.parameters, setup.space.domain)),
      cells_(context, setup.space, {.outside_allowed = true, .fold_reach = reach_}),
      exchange_(context, ranks, setup.space),
      border_stream_(context),
      borders_(border_stream_.context(), ranks),
      fault_(context, 1) {}

/// Rank 0 has all agents, by id, until they leave.
template <typename Context, typename T, int D>
void circles_share<Context, T, D>::set(const circles_state<T, D>& state) {
  const std::size_t count = state.positions.size();
  step_ = all_values(ranks_, state.step)[0];
  together(ranks_, [&] {
    std::vector<record_type> agents(count);
    for (std::size_t i = 0; i < count; ++i) agents[i] = {state.positions[i], static_cast<particle_id>(i)};
    own_ = count;
    agents_ = to_device(context_, agents);
    copy_bytes(context_, &no_run_fault, fault_.data(), sizeof(no_run_fault));
    context_.synchronize();
  });
  exchange_.balance(points(agents_, own_));
  exchange();
}

/// Sends each agent to the owner of its cell; there they come in order of cells. Chooses ghosts, and makes room for
/// them behind the own agents.
template <typename Context, typename T, int D>
void circles_share<Context, T, D>::exchange() {
  exchange_.leave(points(agents_, own_));
  own_ = exchange_.arriving();
  exchange_.carry(agents_.data(), carried_);
  exchange_.sort(points(carried_, own_));
  before_.resize_discarding(context_, own_);
  exchange_.reorder(carried_.data(), before_.data());
  const waiting_time time(exchange_.communication_seconds());
  border_stream_.wait_for(context_);
  borders_.build(setup_.space, exchange_.on_device(), points(before_, own_), {reach_ + skin_});
  border_stream_.make_wait(context_);
  has_ghosts_ = false;
  const std::size_t all = own_ + borders_.ghosts();
  agents_.resize_discarding(context_, all);
  carried_.resize_discarding(context_, all);
  copy_bytes(context_, before_.data(), agents_.data(), own_ * sizeof(record_type));
}

template <typename Context, typename T, int D>
int circles_share<Context, T, D>::advance(std::size_t steps, const std::function<int()>& wish) {
  for (std::size_t k = 0; k < steps; ++k) {
    prepare_step(wish());
    move(k + 1 < steps && exchange_.wish() == 0, nullptr);
    ++step_;
    if (exchange_.wish() != 0) return static_cast<int>(exchange_.wish());
  }
  return 0;
}

template <typename Context, typename T, int D>
int circles_share<Context, T, D>::record(std::size_t steps, const std::function<int()>& wish,
                                         std::vector<circles_record>& records) {
  for (std::size_t k = 0; k < steps; ++k) {
    double seconds = 0;
    {
      const waiting_time time(seconds);
      prepare_step(wish());
      last_.resize_discarding(context_, own_);
      neighbors_.resize_discarding(context_, own_);
      copy_bytes(context_, agents_.data(), last_.data(), own_ * sizeof(record_type));
      move(false, neighbors_.data());
      context_.synchronize();
    }
    circles_record one = recorded();
    one.step = ++step_;
    one.milliseconds = 1e3 * seconds;
    records.push_back(one);
    if (exchange_.wish() != 0) return static_cast<int>(exchange_.wish());
  }
  return 0;
}

/// Of the step that has been taken from last_ to agents_.
template <typename Context, typename T, int D>
circles_record circles_share<Context, T, D>::recorded() {
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

/// Looks whether agents must change ranks.
template <typename Context, typename T, int D>
void circles_share<Context, T, D>::prepare_step(int wish) {
  const T moved = reduce_maximum(context_, "circles.moved", own_,
                                 distance_of_agent<T, D>{agents_.data(), before_.data()}, scratch_);
  // Rounding is in the reach of the halo.
  if (!exchange_.due(own_ > 0 && 2 * moved >= skin_, own_, wish)) return;
  receive_ghosts();
  exchange_.balance_if_worth(points(agents_, own_));
  exchange();
}

/// Ghosts start on their way, after what border_stream_ has been given.
template <typename Context, typename T, int D>
void circles_share<Context, T, D>::send_ghosts() {
  const waiting_time time(exchange_.communication_seconds());
  const halo_array agents{agents_.data(), sizeof(record_type)};
  borders_.start_forward({&agents, 1});
  traveling_ = has_ghosts_ = true;
}

/// If they are on their way.
template <typename Context, typename T, int D>
void circles_share<Context, T, D>::receive_ghosts() {
  if (!traveling_) return;
  const waiting_time time(exchange_.communication_seconds());
  borders_.finish_forward();
  border_stream_.make_wait(context_);
  traveling_ = false;
}

/// Ghosts, if they have not come already, cells, the walk. `more`: another step follows.
template <typename Context, typename T, int D>
void circles_share<Context, T, D>::move(bool more, std::uint32_t* neighbors) {
  if (!has_ghosts_) {
    border_stream_.wait_for(context_);
    send_ghosts();
  }
  receive_ghosts();
  has_ghosts_ = false;
  const carried_array arrays[] = {quadrat::carry(static_cast<const record_type*>(agents_.data()), carried_.data())};
  cells_.build_and_carry(context_, points(agents_, own_ + borders_.ghosts()), arrays);
  if (context_.reproducibility() == determinism::canonical) {
    move_by(fixed_law_, more, neighbors);
  } else if (setup_.parameters.form == circles_form::sine) {
    move_by(sine_law_, more, neighbors);
  } else {
    move_by(original_law_, more, neighbors);
  }
}

/// Agents that are ghosts elsewhere come first: they travel while the others are moved.
template <typename Context, typename T, int D>
template <typename Law>
void circles_share<Context, T, D>::move_by(const Law& law, bool more, std::uint32_t* neighbors) {
  if (!more || !worth_hiding_messages<Context>(ranks_))
    return enqueue_move(context_, law, circles_part::all, neighbors);
  border_stream_.wait_for(context_);
  enqueue_move(border_stream_.context(), law, circles_part::with_copies, neighbors);
  if constexpr (std::is_same_v<Context, cpu_context>) {
    send_ghosts();
    enqueue_move(context_, law, circles_part::without_copies, neighbors);
  } else {
    // The device has work while ranks talk.
    enqueue_move(context_, law, circles_part::without_copies, neighbors);
    border_stream_.make_wait(context_);
    send_ghosts();
  }
}

template <typename Context, typename T, int D>
template <typename Law>
void circles_share<Context, T, D>::enqueue_move(const Context& context, const Law& law, circles_part part,
                                                std::uint32_t* neighbors) {
  using body = circles_step_of_own<search_orders::trimmed, typename cell_list::view_type, Law, T, D>;
  for_each(context, "circles.move own", own_ + borders_.ghosts(),
           body{cells_.view(), law, carried_.data(), agents_.data(), neighbors, static_cast<std::uint32_t>(own_),
                step_ + 1, run_fault{fault_.data()}, borders_.copies(), part});
}

template <typename Context, typename T, int D>
circles_state<T, D> circles_share<Context, T, D>::gather() {
  const auto all = gathered(ranks_, to_host(context_, agents_.data(), own_));
  circles_state<T, D> state;
  if (ranks_.rank() != 0) return state;
  state.step = step_;
  state.positions.resize(all.size());
  for (const record_type& one : all) state.positions[one.id] = one.position;
  return state;
}

template <typename Context, typename T, int D>
std::size_t circles_share<Context, T, D>::bytes() const {
  return cells_.bytes() + exchange_.bytes() + borders_.bytes() + agents_.bytes() + before_.bytes() + carried_.bytes() +
         last_.bytes() + neighbors_.bytes() + fault_.bytes() + scratch_.bytes();
}

template class circles_share<backend_context, float, 2>;
template class circles_share<backend_context, float, 3>;
template class circles_share<backend_context, double, 2>;
template class circles_share<backend_context, double, 3>;

}  // namespace quadrat::detail
