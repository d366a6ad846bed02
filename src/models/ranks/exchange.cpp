// SPDX-License-Identifier: BSD-3-Clause
#include "models/ranks/exchange.hpp"

#include <algorithm>
#include <cmath>

#include "core/backend.hpp"
#include "quadrat/parallel/sort.hpp"

namespace quadrat::detail {

namespace {

/// The record of each rank that all ranks get after a step.
struct rank_pulse {
  std::uint64_t asked;
  std::uint64_t particles;
  std::int64_t wish;
};

/// The cell of each particle within the block of its rank, x fastest; in blocks of more than 2^32 cells several cells
/// share a key. Particles that have left the block count in its outermost cells.
template <typename T, int D>
struct key_in_block {
  grid<T, D> space;
  cell_block<D> block;
  int shift;
  points_view<T, D> points;
  std::uint32_t* keys;

  QUADRAT_HD void operator()(std::size_t i) const {
    const vec<int, D> cell = space.unfolded_cell_of(points[i]);
    std::uint64_t key = 0;
    for (int axis = D - 1; axis >= 0; --axis) {
      const int last = block.end[axis] - block.first[axis] - 1;
      const int along = cell[axis] - block.first[axis];
      key = key * static_cast<std::uint64_t>(last + 1) +
            static_cast<std::uint64_t>(along < 0 ? 0 : (along < last ? along : last));
    }
    keys[i] = static_cast<std::uint32_t>(key >> shift);
  }
};

}  // namespace

template <typename Context, typename T, int D>
rank_exchange<Context, T, D>::rank_exchange(const Context& context, communicator& ranks, const grid<T, D>& space)
    : context_(context),
      ranks_(ranks),
      space_(space),
      shares_(even_decomposition(space, ranks.size())),
      device_shares_(context, shares_),
      moves_(context, ranks),
      few_(context, ranks) {}

template <typename Context, typename T, int D>
bool rank_exchange<Context, T, D>::due(bool asked, std::size_t own, std::int64_t wish) {
  std::uint64_t most = 0, total = 0;
  bool any = false;
  wish_ = 0;
  {
    const waiting_time time(report_.communication_seconds);
    for (const rank_pulse& one : all_values(ranks_, rank_pulse{asked ? 1u : 0u, own, wish})) {
      wish_ = std::max(wish_, one.wish);
      any = any || one.asked != 0;
      most = std::max(most, one.particles);
      total += one.particles;
    }
  }
  lost_ = total == 0 ? 0 : static_cast<double>(most) * ranks_.size() / static_cast<double>(total) - 1;
  lost_since_balance_ += lost_;
  report_.lost_steps += lost_;
  return any;
}

template <typename Context, typename T, int D>
bool rank_exchange<Context, T, D>::balance_if_worth(const points_view<T, D>& points) {
  if (!(lost_since_balance_ > balance_cost && lost_ > least_loss)) return false;
  balance(points);
  return true;
}

template <typename Context, typename T, int D>
void rank_exchange<Context, T, D>::balance(const points_view<T, D>& points) {
  shares_ = balanced_decomposition(context_, ranks_, space_, points);
  device_shares_ = device_decomposition<Context, D>(context_, shares_);
  lost_since_balance_ = 0;
  ++report_.balances;
}

template <typename Context, typename T, int D>
void rank_exchange<Context, T, D>::find_destinations(const points_view<T, D>& points) {
  owners_.resize_discarding(context_, points.count);
  find_owners(context_, device_shares_.view(), space_, points, owners_.data());
}

template <typename Context, typename T, int D>
void rank_exchange<Context, T, D>::leave(const points_view<T, D>& points) {
  const waiting_time time(report_.communication_seconds);
  find_destinations(points);
  moves_.build(owners_.data(), points.count);
  ++report_.exchanges;
}

/// Finds the order of cells within the block.
template <typename Context, typename T, int D>
void rank_exchange<Context, T, D>::sort(const points_view<T, D>& points) {
  double cells = 1;
  for (int axis = 0; axis < D; ++axis) cells *= std::max(block().end[axis] - block().first[axis], 1);
  int shift = 0;
  while (std::ldexp(cells, -shift) > 0x1p32) ++shift;
  sorted_ = points.count;
  for (int copy = 0; copy < 2; ++copy) {
    keys_[copy].resize_discarding(context_, sorted_);
    order_[copy].resize_discarding(context_, sorted_);
  }
  for_each(context_, "ranks.cells", sorted_, key_in_block<T, D>{space_, block(), shift, points, keys_[0].data()});
  const sort_buffers<std::uint32_t> buffers{{keys_[0].data(), keys_[1].data()}, {order_[0].data(), order_[1].data()}};
  const int bits = key_bits_for(static_cast<std::uint64_t>(std::ldexp(cells, -shift)) + 1);
  last_ = sort_pairs(context_, buffers, sorted_, std::min(bits, 32), scratch_, sort_values::index);
}

template <typename Context, typename T, int D>
rank_report rank_exchange<Context, T, D>::report(std::size_t own, std::size_t ghosts) const {
  rank_report result = report_;
  result.particles = own;
  result.ghosts = ghosts;
  result.bytes_sent = ranks_.bytes_sent();
  return result;
}

template <typename Context, typename T, int D>
std::size_t rank_exchange<Context, T, D>::bytes() const {
  std::size_t sum = moves_.bytes() + few_.bytes() + owners_.bytes() + scratch_.bytes();
  for (const auto& one : spare_) sum += one.bytes();
  for (int copy = 0; copy < 2; ++copy) sum += keys_[copy].bytes() + order_[copy].bytes();
  return sum;
}

template class rank_exchange<backend_context, float, 2>;
template class rank_exchange<backend_context, float, 3>;
template class rank_exchange<backend_context, double, 2>;
template class rank_exchange<backend_context, double, 3>;

}  // namespace quadrat::detail
