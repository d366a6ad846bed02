// SPDX-License-Identifier: BSD-3-Clause
#include "models/granular/ranks/grains_of_rank.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <type_traits>
#include <vector>

#include "core/backend.hpp"
#include "models/granular/ranks/rank_meter.hpp"
#include "models/granular/setup.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/reduce.hpp"

namespace quadrat::detail {

template <typename Context, typename T>
grains_of_rank<Context, T>::grains_of_rank(const Context& context, communicator& ranks, const granular_setup<T>& setup,
                                           const granular_parameters& parameters, T skin, bool overlaps)
    : base(context, ranks, setup.space, granular_faults),
      setup_(setup),
      parameters_(parameters),
      least_skin_(skin),
      skin_(skin),
      overlaps_(overlaps),
      cells_(context, setup.space, rows_type::reach(setup)),
      rows_(setup),
      ghosts_(context, ranks, exchange_),
      largest_(context, 1) {}

template <typename Context, typename T>
void grains_of_rank<Context, T>::load(const granular_state<T>& state, std::size_t first) {
  check_grains<T>(setup_.space.domain, state.positions, state.velocities, first);
  own_ = state.positions.size();
  std::vector<packed_record<T, 3>> positions(own_);
  std::vector<velocity_record<T>> velocities(own_);
  for (std::size_t i = 0; i < own_; ++i) {
    positions[i] = {state.positions[i], no_particle};
    velocities[i] = {state.velocities[i], static_cast<particle_id>(first + i)};
  }
  positions_[now_] = to_device(context_, positions);
  velocities_[now_] = to_device(context_, velocities);
}

template <typename Context, typename T>
void grains_of_rank<Context, T>::start() {
  moved_ahead_ = false;
  last_move_ = 0;
  migrate();
  choose_ghosts();
  since_ = 0;
  interval_ = 1;
}

/// On a GPU the forces are enqueued before the host knows whether all needed ghosts have been chosen, so that the
/// device does not wait for the agreement of ranks. If not, or if no step follows (both rare), they are computed again
/// from the previous grains. All ranks count the same steps, and decide alike.
template <typename Context, typename T>
bool grains_of_rank<Context, T>::move(bool more) {
  if (!moved_ahead_) move_grains();
  const int asked = asked_, set = now_;
  const bool early = std::is_same_v<Context, cuda_context> && !expects_an_exchange();
  if (early) {
    push(more);
    early_ = set;
    moves_early_ = more;
  }
  const T moved = own_ == 0 ? T(0) : largest_moves_[asked].wait();
  ++since_;
  // Fast grains have come to rest.
  const bool wide = since_ >= 100 && skin_ > least_skin_ && ghosts_.number() > 0;
  return far_from_ghosts(moved, set) || wide;
}

template <typename Context, typename T>
void grains_of_rank<Context, T>::undo_push() {
  if (early_ < 0) return;
  now_ = early_;
  early_ = -1;
  for_each(context_, "granular.forget", granular_faults, forget_faults{faults_.data(), step_ + 1});
}

template <typename Context, typename T>
void grains_of_rank<Context, T>::settle() {
  undo_push();
  ghosts_.receive();
}

template <typename Context, typename T>
void grains_of_rank<Context, T>::finish(bool more) {
  const bool early = early_ >= 0;
  if (!early) interval_ = std::max(interval_, 2 * since_);
  if (early && moves_early_ != more) undo_push();
  if (early_ < 0) push(more);
  early_ = -1;
}

/// Due after as many steps as between the last two exchanges; if there was none, after twice as many.
template <typename Context, typename T>
bool grains_of_rank<Context, T>::expects_an_exchange() const {
  return since_ + 1 >= interval_;
}

template <typename Context, typename T>
void grains_of_rank<Context, T>::exchange(bool balanced) {
  // Grains that keep their places are sorted once in this many exchanges, because neighbors close in memory are found
  // faster.
  constexpr std::size_t longest_unsorted = 32;
  if (balanced || unsorted_ == longest_unsorted) {
    migrate();
  } else {
    own_ = exchange_.travel_in_place(points(), std::tie(positions_[now_], velocities_[now_]));
    ++unsorted_;
  }
  choose_ghosts();
  interval_ = since_;
  since_ = 0;
}

template <typename Context, typename T>
void grains_of_rank<Context, T>::move_grains() {
  if (own_ == 0) return;
  const move_own_grains<T> body{setup_.motion, grains(now_), step_ + 1, run_fault{faults_.data() + fault_of_move}};
  reduce_into(context_, "granular.move own", own_, body, maximum_operation{}, T(0), largest_.data(), scratch_);
  request_largest();
}

template <typename Context, typename T>
void grains_of_rank<Context, T>::request_largest() {
  asked_ = 1 - asked_;
  largest_moves_[asked_].request(context_, largest_.data());
}

/// Whether a grain has moved by half of the skin. The sum of the largest moves is a bound; distances are computed only
/// when it is exceeded.
template <typename Context, typename T>
bool grains_of_rank<Context, T>::far_from_ghosts(T moved, int set) {
  last_move_ = static_cast<double>(moved);
  moved_ += last_move_;
  const auto skin = static_cast<double>(skin_);
  if (own_ == 0 || 2 * moved_ < skin) return false;
  const distance_moved<T> distance{positions_[set].data(), before_.data()};
  moved_ = static_cast<double>(reduce_maximum(context_, "granular.moved", own_, distance, scratch_));
  // The reach of the halo includes rounding.
  return 2 * moved_ >= skin;
}

/// Receives ghosts (unless they have arrived), builds cells, and computes forces.
template <typename Context, typename T>
void grains_of_rank<Context, T>::push(bool move) {
  ghosts_.receive();
  if (ghosts_of_ != now_) {
    ghosts_of_ = now_;
    ghosts_.fetch(positions_[now_], velocities_[now_]);
  }
  if (move) fill_bytes(context_, largest_.data(), 0, largest_.bytes());
  if (has_rows()) {
    if constexpr (std::is_same_v<Context, cpu_context>) push_by(rows_.view(), move);
  } else {
    build_cells();
    push_by(cells_.view(), move);
  }
  if (move && own_ > 0) request_largest();
  moved_ahead_ = move;
  now_ = 1 - now_;
}

template <typename Context, typename T>
template <typename View>
void grains_of_rank<Context, T>::push_by(const View& view, bool move) {
  if (context_.reproducibility() == determinism::canonical) {
    enqueue_push<true>(view, move);
  } else {
    enqueue_push<false>(view, move);
  }
}

/// With overlap, not if the next step will probably choose new ghosts.
template <typename Context, typename T>
template <bool Canonical, typename View>
void grains_of_rank<Context, T>::enqueue_push(const View& view, bool move) {
  const push_own_grains<View, T, Canonical> body{
      view, setup_.law, setup_.obstacle, setup_.motion,  grains(now_), grains(1 - now_),
      move, step_ + 1,  faults_.data(),  largest_.data()};
  if (!overlaps_ || !move || expects_an_exchange()) return for_each(context_, "granular.push own", own_, body);
  ghosts_of_ = 1 - now_;
  ghosts_.send_first("granular.push own", body, positions_[ghosts_of_], velocities_[ghosts_of_]);
}

/// Makes rows if they pay.
template <typename Context, typename T>
bool grains_of_rank<Context, T>::has_rows() {
  if constexpr (std::is_same_v<Context, cpu_context>) {
    const std::size_t all = own_ + ghosts_.number();
    if (rows_.serve(context_, positions_[now_].data(), all, last_move_)) return true;
    if (!rows_.worth(last_move_, interval_)) return false;
    build_cells();
    return rows_.make(context_, cells_.view(), grains(now_), own_, all);
  } else {
    return false;
  }
}

/// The points of own grains and ghosts.
template <typename Context, typename T>
void grains_of_rank<Context, T>::build_cells() {
  const points_view<T, 3> all = points(own_ + ghosts_.number());
  if (!fitted_) cells_.fit(context_, all);
  fitted_ = true;
  cells_.build_async(all);
}

template <typename Context, typename T>
void grains_of_rank<Context, T>::migrate() {
  exchange_.leave(points());
  own_ = exchange_.arriving();
  exchange_.travel(std::tie(positions_[now_], velocities_[now_]));
  unsorted_ = 0;
}

/// A wider skin sends more ghosts in each step, but chooses them more rarely. With A ghosts per length of reach, n own
/// grains and moves of m per step, a skin of s costs 2 m n / s + A s per step, assuming that choosing ghosts costs as
/// much per own grain as a ghost costs per step. The minimum is at s = sqrt(2 m n / A). A skin that a grain crosses in
/// each step is useless.
template <typename Context, typename T>
T grains_of_rank<Context, T>::skin_to_come() {
  struct facts {
    double move, own, ghosts;
  };
  facts all{};
  for (const facts& one :
       all_values(ranks_, facts{last_move_, static_cast<double>(own_), static_cast<double>(ghosts_.number())})) {
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
  {
    const waiting_time time(exchange_.communication_seconds());
    skin_ = skin_to_come();
  }
  ghosts_.choose(points(), {setup_.law.diameter + skin_});
  const std::size_t all = own_ + ghosts_.number();
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
  return cells_.bytes() + ghosts_.bytes() + before_.bytes() + positions_[0].bytes() + positions_[1].bytes() +
         velocities_[0].bytes() + velocities_[1].bytes() + rows_.bytes();
}

template <typename Context, typename T>
void grains_of_rank<Context, T>::gather(granular_state<T>& state) {
  const auto all = gathered(ranks_, to_host(context_, rows_of_grains(context_, *this)));
  place_by_id(all, &sent_grain<T>::position, state.positions);
  place_by_id(all, &sent_grain<T>::velocity, state.velocities);
}

template <typename Context, typename T>
granular_statistics grains_of_rank<Context, T>::measure() {
  granular_statistics result = measure_ranks(context_, ranks_, setup_, parameters_, *this);
  result.step = step_;
  return result;
}

template class grains_of_rank<backend_context, float>;
template class grains_of_rank<backend_context, double>;

}  // namespace quadrat::detail
