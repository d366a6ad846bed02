// SPDX-License-Identifier: BSD-3-Clause
#include "models/granular/ranks/grains_of_rank.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <type_traits>

#include "core/backend.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/reduce.hpp"
#include "quadrat/parallel/sort.hpp"

namespace quadrat::detail {

namespace {

/// Adds the time until it ends to a number of seconds.
class waiting_time {
 public:
  explicit waiting_time(double& seconds) : seconds_(seconds), begin_(clock::now()) {}
  ~waiting_time() { seconds_ += std::chrono::duration<double>(clock::now() - begin_).count(); }
  waiting_time(const waiting_time&) = delete;
  waiting_time& operator=(const waiting_time&) = delete;

 private:
  using clock = std::chrono::steady_clock;
  double& seconds_;
  clock::time_point begin_;
};

}  // namespace

template <typename Context, typename T>
grains_of_rank<Context, T>::grains_of_rank(const Context& context, communicator& ranks, const granular_setup<T>& setup,
                                           T skin)
    : context_(context),
      ranks_(ranks),
      setup_(setup),
      skin_(skin),
      cells_(context, setup.space, {.fold_reach = setup.law.diameter}),
      shares_(even_decomposition(setup.space, ranks.size())),
      device_shares_(context, shares_),
      moves_(context, ranks),
      borders_(context, ranks),
      fault_(context, 1) {
  copy_bytes(context_, &no_run_fault, fault_.data(), sizeof(no_run_fault));
  context_.synchronize();
}

template <typename Context, typename T>
points_view<T, 3> grains_of_rank<Context, T>::points(std::size_t count) const {
  const T* const first = count == 0 ? nullptr : positions_.data()->position.component;
  return strided_points<3>(first, count, sizeof(packed_record<T, 3>) / sizeof(T));
}

template <typename Context, typename T>
void grains_of_rank<Context, T>::set(std::span<const packed_record<T, 3>> positions,
                                     std::span<const velocity_record<T>> velocities) {
  own_ = positions.size();
  positions_ = to_device(context_, positions);
  velocities_[now_] = to_device(context_, velocities);
  copy_bytes(context_, &no_run_fault, fault_.data(), sizeof(no_run_fault));
  context_.synchronize();
  balance();
  migrate();
  choose_ghosts();
}

template <typename Context, typename T>
void grains_of_rank<Context, T>::advance(std::uint64_t step) {
  move(step);
  const T moved =
      reduce_maximum(context_, "granular.moved", own_, distance_moved<T>{positions_.data(), before_.data()}, scratch_);
  const rank_pulse mine{own_ == 0 ? 0.0 : static_cast<double>(moved), own_};
  double most_moved = 0;
  std::uint64_t most = 0, total = 0;
  {
    const waiting_time time(report_.communication_seconds);
    for (const rank_pulse& one : all_values(ranks_, mine)) {
      most_moved = std::max(most_moved, one.moved);
      most = std::max(most, one.grains);
      total += one.grains;
    }
  }
  const double lost = total == 0 ? 0 : static_cast<double>(most) * ranks_.size() / static_cast<double>(total) - 1;
  lost_since_balance_ += lost;
  report_.lost_steps += lost;
  // Rounding is in the reach of the halo.
  if (2 * most_moved >= static_cast<double>(skin_)) {
    if (lost_since_balance_ > balance_cost && lost > 0.02) balance();
    migrate();
    choose_ghosts();
  }
  push(step);
}

template <typename Context, typename T>
void grains_of_rank<Context, T>::move(std::uint64_t step) {
  for_each(context_, "granular.move own", own_,
           move_own_grains<T>{setup_.motion, grains(), step, run_fault{fault_.data()}});
}

/// Ghosts, cells, forces.
template <typename Context, typename T>
void grains_of_rank<Context, T>::push(std::uint64_t step) {
  const std::size_t all = own_ + borders_.ghosts();
  {
    const waiting_time time(report_.communication_seconds);
    const halo_array arrays[] = {{positions_.data(), sizeof(packed_record<T, 3>)},
                                 {velocities_[now_].data(), sizeof(velocity_record<T>)}};
    borders_.forward(std::span(arrays));
  }
  cells_.build(context_, points(all));
  const auto enqueue = [&](auto canonical) {
    using body = push_own_grains<typename cell_list::view_type, T, decltype(canonical)::value>;
    for_each(context_, "granular.push own", own_,
             body{cells_.view(), setup_.law, setup_.obstacle, grains(), velocities_[1 - now_].data(), step,
                  run_fault{fault_.data()}});
  };
  if (context_.reproducibility() == determinism::canonical) {
    enqueue(std::true_type());
  } else {
    enqueue(std::false_type());
  }
  now_ = 1 - now_;
}

/// New blocks, by the number of grains.
template <typename Context, typename T>
void grains_of_rank<Context, T>::balance() {
  shares_ = balanced_decomposition(context_, ranks_, setup_.space, points(own_));
  device_shares_ = device_decomposition<Context, 3>(context_, shares_);
  lost_since_balance_ = 0;
  ++report_.balances;
}

/// Sends each grain to the owner of its cell.
template <typename Context, typename T>
void grains_of_rank<Context, T>::migrate() {
  const waiting_time time(report_.communication_seconds);
  owners_.resize_discarding(context_, own_);
  find_owners(context_, device_shares_.view(), setup_.space, points(own_), owners_.data());
  moves_.build(owners_.data(), own_);
  before_.resize_discarding(context_, moves_.arriving());
  velocities_[1 - now_].resize_discarding(context_, moves_.arriving());
  moves_.apply(positions_.data(), before_.data());
  moves_.apply(velocities_[now_].data(), velocities_[1 - now_].data());
  own_ = moves_.arriving();
  ++report_.exchanges;
  sort();
}

/// After the migration: in order of cells, so that neighbors are close in memory.
template <typename Context, typename T>
void grains_of_rank<Context, T>::sort() {
  const cell_block<3>& block = shares_.blocks[static_cast<std::size_t>(ranks_.rank())];
  double cells = 1;
  for (int axis = 0; axis < 3; ++axis) cells *= std::max(block.end[axis] - block.first[axis], 1);
  int shift = 0;
  while (std::ldexp(cells, -shift) > 0x1p32) ++shift;
  for (int copy = 0; copy < 2; ++copy) {
    keys_[copy].resize_discarding(context_, own_);
    order_[copy].resize_discarding(context_, own_);
  }
  for_each(context_, "granular.cells", own_,
           key_of_cell<T>{setup_.space, block, shift, before_.data(), keys_[0].data()});
  const sort_buffers<std::uint32_t> buffers{{keys_[0].data(), keys_[1].data()}, {order_[0].data(), order_[1].data()}};
  const int bits = key_bits_for(static_cast<std::uint64_t>(std::ldexp(cells, -shift)) + 1);
  const int sorted = sort_pairs(context_, buffers, own_, std::min(bits, 32), scratch_, sort_values::index);
  positions_.resize_discarding(context_, own_);
  velocities_[now_].resize_discarding(context_, own_);
  for_each(context_, "granular.reorder", own_,
           reorder_grains<T>{order_[sorted].data(), {before_.data(), velocities_[1 - now_].data()}, grains()});
  before_.swap(positions_);
  velocities_[0].swap(velocities_[1]);
}

/// After `migrate`: the grains are in before_ and in the other velocities. Makes room for ghosts behind them.
template <typename Context, typename T>
void grains_of_rank<Context, T>::choose_ghosts() {
  const waiting_time time(report_.communication_seconds);
  const T* const first = own_ == 0 ? nullptr : before_.data()->position.component;
  const auto own_points = strided_points<3>(first, own_, sizeof(packed_record<T, 3>) / sizeof(T));
  borders_.build(setup_.space, device_shares_.view(), own_points, {setup_.law.diameter + skin_});
  const std::size_t all = own_ + borders_.ghosts();
  positions_.resize_discarding(context_, all);
  copy_bytes(context_, before_.data(), positions_.data(), own_ * sizeof(packed_record<T, 3>));
  velocities_[now_].resize_discarding(context_, all);
  copy_bytes(context_, velocities_[1 - now_].data(), velocities_[now_].data(), own_ * sizeof(velocity_record<T>));
  // The copy is enqueued; memory of the context is released in order.
  velocities_[1 - now_].resize_discarding(context_, all);
}

template <typename Context, typename T>
std::uint64_t grains_of_rank<Context, T>::fault() {
  const std::uint64_t mine = to_host(context_, fault_)[0];
  std::uint64_t first = no_run_fault;
  for (const std::uint64_t one : all_values(ranks_, mine)) first = std::min(first, one);
  return first;
}

template <typename Context, typename T>
granular_rank_report grains_of_rank<Context, T>::report() const {
  granular_rank_report result = report_;
  result.grains = own_;
  result.ghosts = borders_.ghosts();
  result.bytes_sent = ranks_.bytes_sent();
  return result;
}

template <typename Context, typename T>
std::size_t grains_of_rank<Context, T>::bytes() const {
  return cells_.bytes() + moves_.bytes() + borders_.bytes() + positions_.bytes() + before_.bytes() +
         velocities_[0].bytes() + velocities_[1].bytes() + owners_.bytes() + keys_[0].bytes() + keys_[1].bytes() +
         order_[0].bytes() + order_[1].bytes() + fault_.bytes() + scratch_.bytes();
}

template class grains_of_rank<backend_context, float>;
template class grains_of_rank<backend_context, double>;

}  // namespace quadrat::detail
