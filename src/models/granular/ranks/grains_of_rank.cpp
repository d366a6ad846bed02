// SPDX-License-Identifier: BSD-3-Clause
#include "models/granular/ranks/grains_of_rank.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "core/backend.hpp"
#include "models/ranks/make_room.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/reduce.hpp"

namespace quadrat::detail {

template <typename Context, typename T>
grains_of_rank<Context, T>::grains_of_rank(const Context& context, communicator& ranks, const granular_setup<T>& setup,
                                           T skin, bool overlaps)
    : context_(context),
      ranks_(ranks),
      setup_(setup),
      least_skin_(skin),
      skin_(skin),
      overlaps_(overlaps),
      border_stream_(context),
      cells_(context, setup.space, rows_type::reach(setup)),
      rows_(setup),
      exchange_(context, ranks, setup.space),
      few_(context, ranks),
      borders_(border_stream_.context(), ranks),
      largest_(context, 1),
      faults_(context, granular_faults) {}

template <typename Context, typename T>
void grains_of_rank<Context, T>::set(std::span<const packed_record<T, 3>> positions,
                                     std::span<const velocity_record<T>> velocities) {
  own_ = positions.size();
  positions_[now_] = to_device(context_, positions);
  velocities_[now_] = to_device(context_, velocities);
  fill_bytes(context_, faults_.data(), 0xff, faults_.bytes());  // no_run_fault
  context_.synchronize();
  moved_ahead_ = false;
  last_move_ = 0;
  exchange_.balance(points(own_));
  migrate();
  choose_ghosts();
  since_ = 0;
  interval_ = 1;
}

/// On a GPU the forces are enqueued before the host knows whether all ghosts that they need have been chosen, so that
/// the device does not wait for ranks to agree. Where they have not, or no step follows, which is rare, that is done
/// again: the grains before it are still there. All ranks count the same steps, and so do the same.
template <typename Context, typename T>
std::int64_t grains_of_rank<Context, T>::advance(std::uint64_t step, bool more, std::int64_t wish) {
  if (!moved_ahead_) move(step);
  const int asked = asked_, set = now_;
  const bool early = std::is_same_v<Context, cuda_context> && !expects_an_exchange();
  if (early) push(step, more);
  const T moved = own_ == 0 ? T(0) : largest_moves_[asked].wait();
  ++since_;
  // After fast grains have come to rest.
  const bool wide = since_ >= 100 && skin_ > least_skin_ && borders_.ghosts() > 0;
  const bool due = exchange_.due(far_from_ghosts(moved, set) || wide, own_, wish);
  const bool ends = more && exchange_.wish() != 0;
  if (early && (due || ends)) {
    now_ = set;
    for_each(context_, "granular.forget", granular_faults, forget_faults{faults_.data(), step});
  }
  if (due) {
    exchange();
  } else if (!early) {
    interval_ = std::max(interval_, 2 * since_);
  }
  if (!early || due || ends) push(step, more && !ends);
  return exchange_.wish();
}

/// After as many steps as between the last two exchanges; if there was none, after twice as many.
template <typename Context, typename T>
bool grains_of_rank<Context, T>::expects_an_exchange() const {
  return since_ + 1 >= interval_;
}

template <typename Context, typename T>
void grains_of_rank<Context, T>::exchange() {
  receive_ghosts();
  // Grains that keep their places are sorted once in so many exchanges, since neighbors that are close in memory are
  // found faster.
  constexpr std::size_t longest_unsorted = 32;
  if (exchange_.balance_if_worth(points(own_)) || unsorted_ == longest_unsorted) {
    migrate();
  } else {
    migrate_in_place();
  }
  choose_ghosts();
  interval_ = since_;
  since_ = 0;
}

template <typename Context, typename T>
void grains_of_rank<Context, T>::move(std::uint64_t step) {
  if (own_ == 0) return;
  const move_own_grains<T> body{setup_.motion, grains(now_), step, run_fault{faults_.data() + fault_of_move}};
  reduce_into(context_, "granular.move own", own_, body, maximum_operation{}, T(0), largest_.data(), scratch_);
  request_largest();
}

template <typename Context, typename T>
void grains_of_rank<Context, T>::request_largest() {
  asked_ = 1 - asked_;
  largest_moves_[asked_].request(context_, largest_.data());
}

/// Whether a grain has moved by half of the skin. The sum of the largest moves is a bound; only beyond it the distances
/// are looked at.
template <typename Context, typename T>
bool grains_of_rank<Context, T>::far_from_ghosts(T moved, int set) {
  last_move_ = static_cast<double>(moved);
  moved_ += last_move_;
  const auto skin = static_cast<double>(skin_);
  if (own_ == 0 || 2 * moved_ < skin) return false;
  const distance_moved<T> distance{positions_[set].data(), before_.data()};
  moved_ = static_cast<double>(reduce_maximum(context_, "granular.moved", own_, distance, scratch_));
  // Rounding is in the reach of the halo.
  return 2 * moved_ >= skin;
}

/// Positions and velocities of set ghosts_of_ start on their way, after what border_stream_ has been given.
template <typename Context, typename T>
void grains_of_rank<Context, T>::send_ghosts() {
  const waiting_time time(exchange_.communication_seconds());
  const halo_array arrays[] = {{positions_[ghosts_of_].data(), sizeof(packed_record<T, 3>)},
                               {velocities_[ghosts_of_].data(), sizeof(velocity_record<T>)}};
  borders_.start_forward(std::span(arrays));
  traveling_ = true;
}

/// If they are on their way.
template <typename Context, typename T>
void grains_of_rank<Context, T>::receive_ghosts() {
  if (!traveling_) return;
  const waiting_time time(exchange_.communication_seconds());
  borders_.finish_forward();
  border_stream_.make_wait(context_);
  traveling_ = false;
}

/// Ghosts, if they have not come already, cells, forces.
template <typename Context, typename T>
void grains_of_rank<Context, T>::push(std::uint64_t step, bool move) {
  receive_ghosts();
  if (ghosts_of_ != now_) {
    ghosts_of_ = now_;
    border_stream_.wait_for(context_);
    send_ghosts();
    receive_ghosts();
  }
  if (move) fill_bytes(context_, largest_.data(), 0, largest_.bytes());
  if (has_rows()) {
    if constexpr (std::is_same_v<Context, cpu_context>) push_by(rows_.view(), step, move);
  } else {
    build_cells();
    push_by(cells_.view(), step, move);
  }
  if (move && own_ > 0) request_largest();
  moved_ahead_ = move;
  now_ = 1 - now_;
}

template <typename Context, typename T>
template <typename View>
void grains_of_rank<Context, T>::push_by(const View& view, std::uint64_t step, bool move) {
  if (context_.reproducibility() == determinism::canonical) {
    enqueue_push<true>(view, step, move);
  } else {
    enqueue_push<false>(view, step, move);
  }
}

/// With overlap not where ghosts will probably be chosen anew in the next step.
template <typename Context, typename T>
template <bool Canonical, typename View>
void grains_of_rank<Context, T>::enqueue_push(const View& view, std::uint64_t step, bool move) {
  const push_own_grains<View, T, Canonical> body{
      view, setup_.law, setup_.obstacle, setup_.motion,  grains(now_), grains(1 - now_),
      move, step,       faults_.data(),  largest_.data()};
  if (!overlaps_ || !move || expects_an_exchange()) return for_each(context_, "granular.push own", own_, body);
  ghosts_of_ = 1 - now_;
  for_each_borders_first(context_, border_stream_, "granular.push own", borders_, body, [&] { send_ghosts(); });
}

/// Makes rows if that is worth it.
template <typename Context, typename T>
bool grains_of_rank<Context, T>::has_rows() {
  if constexpr (std::is_same_v<Context, cpu_context>) {
    const std::size_t all = own_ + borders_.ghosts();
    if (rows_.serve(context_, positions_[now_].data(), all, last_move_)) return true;
    if (!rows_.worth(last_move_, interval_)) return false;
    build_cells();
    return rows_.make(context_, cells_.view(), grains(now_), own_, all);
  } else {
    return false;
  }
}

/// Of own grains and ghosts.
template <typename Context, typename T>
void grains_of_rank<Context, T>::build_cells() {
  const points_view<T, 3> all = points(own_ + borders_.ghosts());
  if (!fitted_) cells_.fit(context_, all);
  fitted_ = true;
  cells_.build(context_, all);
}

/// Sends each grain to the owner of its cell; there they come in order of cells.
template <typename Context, typename T>
void grains_of_rank<Context, T>::migrate() {
  exchange_.leave(points(own_));
  own_ = exchange_.arriving();
  exchange_.carry(positions_[now_].data(), positions_[1 - now_]);
  exchange_.carry(velocities_[now_].data(), velocities_[1 - now_]);
  exchange_.sort(points_of_records<T, 3>(positions_[1 - now_].data(), own_));
  positions_[now_].resize_discarding(context_, own_);
  velocities_[now_].resize_discarding(context_, own_);
  exchange_.reorder(positions_[1 - now_].data(), positions_[now_].data());
  exchange_.reorder(velocities_[1 - now_].data(), velocities_[now_].data());
  unsorted_ = 0;
}

/// The same, but those that stay keep their places in memory.
template <typename Context, typename T>
void grains_of_rank<Context, T>::migrate_in_place() {
  const waiting_time time(exchange_.communication_seconds());
  owners_.resize_discarding(context_, own_);
  find_owners(context_, exchange_.on_device(), setup_.space, points(own_), owners_.data());
  few_.build(owners_.data(), own_);
  make_room(context_, positions_[now_], own_, few_.size());
  make_room(context_, velocities_[now_], own_, few_.size());
  const migrated_array arrays[] = {{positions_[now_].data(), sizeof(packed_record<T, 3>)},
                                   {velocities_[now_].data(), sizeof(velocity_record<T>)}};
  few_.apply(std::span(arrays));
  own_ = few_.size();
  ++in_place_;
  ++unsorted_;
}

/// The wider the skin, the more ghosts are sent in each step, and the more rarely they are chosen. With A ghosts for
/// each length of reach, n own grains and moves of m a step, a skin of s costs 2 m n / s + A s a step, if to choose
/// ghosts costs for an own grain what a ghost costs in a step, which is about so. That is least for s = sqrt(2 m n /
/// A). A skin that a grain crosses in each step is in vain.
template <typename Context, typename T>
T grains_of_rank<Context, T>::skin_to_come() {
  struct facts {
    double move, own, ghosts;
  };
  facts all{};
  for (const facts& one :
       all_values(ranks_, facts{last_move_, static_cast<double>(own_), static_cast<double>(borders_.ghosts())})) {
    all = {std::max(all.move, one.move), all.own + one.own, all.ghosts + one.ghosts};
  }
  constexpr double most = 8;
  const auto least = static_cast<double>(least_skin_);
  const double reach = static_cast<double>(setup_.law.diameter + skin_);
  if (ranks_.size() == 1) return static_cast<T>(most * least);
  const double best = all.ghosts > 0 ? std::sqrt(2 * all.move * all.own / all.ghosts * reach) : 0;
  return static_cast<T>(best > 2 * all.move ? std::clamp(best, least / 2, most * least) : least);
}

/// Makes room for ghosts behind the own grains.
template <typename Context, typename T>
void grains_of_rank<Context, T>::choose_ghosts() {
  const waiting_time time(exchange_.communication_seconds());
  skin_ = skin_to_come();
  border_stream_.wait_for(context_);
  borders_.build(setup_.space, exchange_.on_device(), points(own_), {setup_.law.diameter + skin_});
  border_stream_.make_wait(context_);
  const std::size_t all = own_ + borders_.ghosts();
  make_room(context_, positions_[now_], own_, all);
  make_room(context_, velocities_[now_], own_, all);
  positions_[1 - now_].resize_discarding(context_, all);
  velocities_[1 - now_].resize_discarding(context_, all);
  before_.resize_discarding(context_, own_);
  copy_bytes(context_, positions_[now_].data(), before_.data(), own_ * sizeof(packed_record<T, 3>));
  moved_ = 0;
  rows_.forget();
  fitted_ = false;
  ghosts_of_ = -1;
}

template <typename Context, typename T>
std::size_t grains_of_rank<Context, T>::bytes() const {
  return cells_.bytes() + exchange_.bytes() + few_.bytes() + owners_.bytes() + borders_.bytes() + before_.bytes() +
         positions_[0].bytes() + positions_[1].bytes() + velocities_[0].bytes() + velocities_[1].bytes() +
         faults_.bytes() + scratch_.bytes() + rows_.bytes();
}

template class grains_of_rank<backend_context, float>;
template class grains_of_rank<backend_context, double>;

}  // namespace quadrat::detail
