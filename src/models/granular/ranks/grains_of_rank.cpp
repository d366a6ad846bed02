// SPDX-License-Identifier: BSD-3-Clause
#include "models/granular/ranks/grains_of_rank.hpp"

#include <algorithm>
#include <type_traits>

#include "core/backend.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/reduce.hpp"
#include "quadrat/parallel/scan.hpp"

namespace quadrat::detail {

template <typename Context, typename T>
grains_of_rank<Context, T>::grains_of_rank(const Context& context, communicator& ranks, const granular_setup<T>& setup,
                                           T skin, bool overlaps)
    : context_(context),
      ranks_(ranks),
      setup_(setup),
      skin_(skin),
      overlaps_(overlaps),
      cells_(context, setup.space, {.fold_reach = setup.law.diameter}),
      ghost_cells_(context, setup.space, {.fold_reach = setup.law.diameter}),
      exchange_(context, ranks, setup.space),
      few_(context, ranks),
      borders_(context, ranks),
      largest_(context, 1),
      fault_(context, 1) {
  copy_bytes(context_, &no_run_fault, fault_.data(), sizeof(no_run_fault));
  context_.synchronize();
}

template <typename Context, typename T>
void grains_of_rank<Context, T>::set(std::span<const packed_record<T, 3>> positions,
                                     std::span<const velocity_record<T>> velocities) {
  own_ = positions.size();
  positions_ = to_device(context_, positions);
  velocities_[now_] = to_device(context_, velocities);
  copy_bytes(context_, &no_run_fault, fault_.data(), sizeof(no_run_fault));
  context_.synchronize();
  exchange_.balance(points(own_));
  migrate();
  choose_ghosts();
  since_ = 0;
  interval_ = 1;
}

/// On a GPU the forces are enqueued before the host knows whether all ghosts that they need have been chosen, so that
/// the device does not wait for ranks to agree. Where they have not, which is rare, forces are computed again: nothing
/// has changed but the velocities of the next step. All ranks count the same steps, and so do the same.
template <typename Context, typename T>
std::int64_t grains_of_rank<Context, T>::advance(std::uint64_t step, std::int64_t wish) {
  move(step);
  const bool early = std::is_same_v<Context, cuda_context> && !expects_an_exchange();
  if (early) push(step);
  const T moved = own_ == 0 ? T(0) : largest_move_.wait();
  ++since_;
  if (exchange_.due(far_from_ghosts(moved), own_, wish)) {
    if (early) now_ = 1 - now_;
    exchange();
    push(step);
  } else if (!early) {
    push(step);
    interval_ = std::max(interval_, 2 * since_);
  }
  return exchange_.wish();
}

/// After as many steps as between the last two exchanges; if there was none, after twice as many.
template <typename Context, typename T>
bool grains_of_rank<Context, T>::expects_an_exchange() const {
  return since_ + 1 >= interval_;
}

template <typename Context, typename T>
void grains_of_rank<Context, T>::exchange() {
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
  reduce_into(context_, "granular.move own", own_,
              move_own_grains<T>{setup_.motion, grains(), step, run_fault{fault_.data()}}, maximum_operation{}, T(0),
              largest_.data(), scratch_);
  largest_move_.request(context_, largest_.data());
}

/// Whether a grain has moved by half of the skin. The sum of the largest moves is a bound; only beyond it the distances
/// are looked at.
template <typename Context, typename T>
bool grains_of_rank<Context, T>::far_from_ghosts(T moved) {
  moved_ += static_cast<double>(moved);
  const auto skin = static_cast<double>(skin_);
  if (own_ == 0 || 2 * moved_ < skin) return false;
  moved_ = static_cast<double>(
      reduce_maximum(context_, "granular.moved", own_, distance_moved<T>{positions_.data(), before_.data()}, scratch_));
  // Rounding is in the reach of the halo.
  return 2 * moved_ >= skin;
}

template <typename Context, typename T>
template <typename View>
void grains_of_rank<Context, T>::enqueue_push(const View& view, const std::uint32_t* some, std::size_t count,
                                              std::uint64_t step) {
  const auto enqueue = [&](auto canonical) {
    using body = push_own_grains<View, T, decltype(canonical)::value>;
    for_each(context_, "granular.push own", count,
             body{view, setup_.law, setup_.obstacle, grains(), velocities_[1 - now_].data(), step,
                  run_fault{fault_.data()}, some});
  };
  if (context_.reproducibility() == determinism::canonical) {
    enqueue(std::true_type());
  } else {
    enqueue(std::false_type());
  }
}

/// Ghosts, cells, forces. With overlap the cells of own grains do not wait for ghosts, which have cells of their own.
template <typename Context, typename T>
void grains_of_rank<Context, T>::push(std::uint64_t step) {
  const std::size_t ghosts = borders_.ghosts();
  const halo_array arrays[] = {{positions_.data(), sizeof(packed_record<T, 3>)},
                               {velocities_[now_].data(), sizeof(velocity_record<T>)}};
  {
    const waiting_time time(exchange_.communication_seconds());
    borders_.start_forward(std::span(arrays));
    if (!overlaps_) borders_.finish_forward();
  }
  if (overlaps_) {
    cells_.build(context_, points(own_));
    enqueue_push(cells_.view(), inner_.data(), own_ - border_count_, step);
    {
      const waiting_time time(exchange_.communication_seconds());
      borders_.finish_forward();
    }
    ghost_cells_.build(context_, points_of_records<T, 3>(positions_.data() + own_, ghosts));
    const own_and_ghosts<typename cell_list::view_type> both{cells_.view(), ghost_cells_.view(),
                                                             static_cast<std::uint32_t>(own_)};
    enqueue_push(both, border_.data(), border_count_, step);
  } else {
    cells_.build(context_, points(own_ + ghosts));
    enqueue_push(cells_.view(), nullptr, own_, step);
  }
  now_ = 1 - now_;
}

/// Finds the own grains that see no ghosts until these are chosen again.
template <typename Context, typename T>
void grains_of_rank<Context, T>::divide() {
  border_before_.resize_discarding(context_, own_ + 1);
  inner_.resize_discarding(context_, own_);
  border_.resize_discarding(context_, own_);
  for_each(context_, "granular.flags", own_, flag_copies{borders_.copies(), inner_.data()});
  exclusive_scan_with_total(context_, inner_.data(), border_before_.data(), own_, scratch_);
  border_count_ = to_host(context_, border_before_.data() + own_, 1)[0];
  for_each(context_, "granular.divide", own_,
           divide_grains{borders_.copies(), border_before_.data(), inner_.data(), border_.data()});
}

/// Sends each grain to the owner of its cell; there they come in order of cells.
template <typename Context, typename T>
void grains_of_rank<Context, T>::migrate() {
  exchange_.leave(points(own_));
  own_ = exchange_.arriving();
  exchange_.carry(positions_.data(), before_);
  exchange_.carry(velocities_[now_].data(), velocities_[1 - now_]);
  exchange_.sort(points_of_records<T, 3>(before_.data(), own_));
  positions_.resize_discarding(context_, own_);
  velocities_[now_].resize_discarding(context_, own_);
  exchange_.reorder(before_.data(), positions_.data());
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
  make_room(positions_, few_.size());
  make_room(velocities_[now_], few_.size());
  few_.apply(positions_.data());
  few_.apply(velocities_[now_].data());
  own_ = few_.size();
  ++in_place_;
  ++unsorted_;
}

/// Keeps the own grains.
template <typename Context, typename T>
template <typename E>
void grains_of_rank<Context, T>::make_room(array<E, Context>& elements, std::size_t room) {
  if (elements.size() >= room) return;
  array<E, Context> larger(context_, room + room / 16);
  copy_bytes(context_, elements.data(), larger.data(), std::min(elements.size(), own_) * sizeof(E));
  // The copy is enqueued; memory of the context is released in order.
  elements.swap(larger);
}

/// Makes room for ghosts behind the own grains.
template <typename Context, typename T>
void grains_of_rank<Context, T>::choose_ghosts() {
  const waiting_time time(exchange_.communication_seconds());
  borders_.build(setup_.space, exchange_.on_device(), points(own_), {setup_.law.diameter + skin_});
  const std::size_t all = own_ + borders_.ghosts();
  make_room(positions_, all);
  make_room(velocities_[now_], all);
  velocities_[1 - now_].resize_discarding(context_, all);
  before_.resize_discarding(context_, own_);
  copy_bytes(context_, positions_.data(), before_.data(), own_ * sizeof(packed_record<T, 3>));
  moved_ = 0;
  if (overlaps_) divide();
}

template <typename Context, typename T>
std::size_t grains_of_rank<Context, T>::bytes() const {
  return cells_.bytes() + ghost_cells_.bytes() + border_before_.bytes() + inner_.bytes() + border_.bytes() +
         exchange_.bytes() + few_.bytes() + owners_.bytes() + borders_.bytes() + positions_.bytes() + before_.bytes() +
         velocities_[0].bytes() + velocities_[1].bytes() + fault_.bytes() + scratch_.bytes();
}

template class grains_of_rank<backend_context, float>;
template class grains_of_rank<backend_context, double>;

}  // namespace quadrat::detail
