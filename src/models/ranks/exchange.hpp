// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <vector>

#include "models/ranks/make_room.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/distributed/communicator.hpp"
#include "quadrat/distributed/decomposition.hpp"
#include "quadrat/distributed/migration.hpp"
#include "quadrat/distributed/sparse_migration.hpp"
#include "quadrat/models/rank_report.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/workspace.hpp"

/// Shared by the models over ranks: blocks of cells, and the exchange of particles.
namespace quadrat::detail {

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

template <typename E>
struct reorder_elements {
  const std::uint32_t* order;
  const E* from;
  E* to;

  QUADRAT_HD void operator()(std::size_t i) const { to[i] = from[order[i]]; }
};

/// The points of records that begin with their position.
template <typename T, int D, typename Record>
[[nodiscard]] points_view<T, D> points_of_records(const Record* records, std::size_t count) {
  static_assert(sizeof(Record) % sizeof(T) == 0);
  return strided_points<D>(count == 0 ? nullptr : reinterpret_cast<const T*>(records), count,
                           sizeof(Record) / sizeof(T));
}

/// Decides which rank owns which particles, and when to exchange, and sends particles' data to new owners:
///   if (exchange.due(asked, own)) {
///     exchange.balance_if_worth(points);
///     exchange.leave(points);
///     exchange.travel(std::tie(positions, others...));
///   }
/// All calls that are not const are collective.
template <typename Context, typename T, int D>
class rank_exchange {
 public:
  /// `space` is not folded, or means its unfolded cells. Starts with blocks of equal volume.
  rank_exchange(const Context& context, communicator& ranks, const grid<T, D>& space);

  /// Call it in each step: returns whether any rank requests an exchange. Adds up the cost of imbalance. Also exchanges
  /// `wish`.
  [[nodiscard]] bool due(bool asked, std::size_t own, std::int64_t wish = 0);
  /// The largest of all ranks at the last call of `due`.
  [[nodiscard]] std::int64_t wish() const { return wish_; }
  /// Makes new blocks, by the number of particles.
  void balance(const points_view<T, D>& points);
  /// The same if imbalance has cost more than balancing since the last time. Returns whether blocks are new.
  bool balance_if_worth(const points_view<T, D>& points);

  /// Plans the transfer of each particle to the owner of its cell. Synchronizes.
  void leave(const points_view<T, D>& points);
  /// After `leave`: the destination rank of each particle, and the number that arrive here.
  [[nodiscard]] const std::uint32_t* destinations() const { return owners_.data(); }
  [[nodiscard]] std::size_t arriving() const { return moves_.arriving(); }
  /// Transfers all fields of the particles. They arrive in order of cells within the block, so that neighbors are close
  /// in memory. The first fields hold the positions: one field of records that begin with them, or D fields of
  /// components. Arrays that are too small grow.
  template <std::size_t Positions = 1, typename... E>
  void travel(const std::tuple<array<E, Context>&...>& fields) {
    std::apply(
        [this](auto&... field) {
          std::size_t k = 0;
          ((k < Positions ? carry(field.data(), spare_of(field, k)) : void(), ++k), ...);
          sort(arrived_positions<Positions, E...>());
          k = 0;
          ((k < Positions ? settle(field, k) : pass_on(field), ++k), ...);
        },
        fields);
  }
  /// One more field, after those.
  template <typename E>
  void pass_on(array<E, Context>& field) {
    carry(field.data(), spare_of(field, 0));
    settle(field, 0);
  }
  /// The same for arrays of arriving() elements, in two parts.
  template <typename E>
  void carry(const E* from, E* to) {
    const waiting_time time(report_.communication_seconds);
    moves_.apply(from, to);
  }
  template <typename E>
  void reorder(const E* from, E* to) const {
    for_each(context_, "ranks.reorder", sorted_, reorder_elements<E>{order_[last_].data(), from, to});
  }
  /// Replaces `leave` and `travel` if few particles leave: particles that stay keep their places in memory, and others
  /// fill the gaps. Returns the new number of particles. Synchronizes.
  template <typename... E>
  [[nodiscard]] std::size_t travel_in_place(const points_view<T, D>& points,
                                            const std::tuple<array<E, Context>&...>& fields) {
    const waiting_time time(report_.communication_seconds);
    find_destinations(points);
    few_.build(owners_.data(), points.count);
    std::vector<migrated_array> all;
    const auto add = [&](auto& field) {
      make_room(context_, field, points.count, few_.size());
      all.push_back({field.data(), sizeof(*field.data())});
    };
    std::apply([&](auto&... field) { (add(field), ...); }, fields);
    few_.apply(all);
    ++report_.exchanges;
    return few_.size();
  }

  [[nodiscard]] const grid<T, D>& space() const { return space_; }
  [[nodiscard]] const decomposition<D>& shares() const { return shares_; }
  [[nodiscard]] decomposition_view<D> on_device() const { return device_shares_.view(); }
  [[nodiscard]] const cell_block<D>& block() const { return shares_.blocks[static_cast<std::size_t>(ranks_.rank())]; }
  /// The counter for waiting times.
  [[nodiscard]] double& communication_seconds() { return report_.communication_seconds; }
  [[nodiscard]] rank_report report(std::size_t own, std::size_t ghosts) const;
  [[nodiscard]] std::size_t bytes() const;

 private:
  /// The approximate cost of balancing, in steps.
  static constexpr double balance_cost = 4;
  /// Imbalance below this is ignored.
  static constexpr double least_loss = 0.02;

  template <typename E>
  [[nodiscard]] E* spare_of(const array<E, Context>& /*field*/, std::size_t k) {
    spare_[k].resize_discarding(context_, moves_.arriving() * sizeof(E));
    return reinterpret_cast<E*>(spare_[k].data());
  }
  template <typename E>
  void settle(array<E, Context>& field, std::size_t k) {
    if (field.size() < moves_.arriving()) field.resize_discarding(context_, moves_.arriving());
    reorder(reinterpret_cast<const E*>(spare_[k].data()), field.data());
  }
  template <std::size_t Positions, typename First, typename... Others>
  [[nodiscard]] points_view<T, D> arrived_positions() const {
    if constexpr (Positions == 1) {
      return points_of_records<T, D>(reinterpret_cast<const First*>(spare_[0].data()), moves_.arriving());
    } else {
      static_assert(Positions == D && std::is_same_v<First, T>);
      std::array<const T*, D> components;
      for (std::size_t k = 0; k < D; ++k) components[k] = reinterpret_cast<const T*>(spare_[k].data());
      return component_points(components, moves_.arriving());
    }
  }
  void find_destinations(const points_view<T, D>& points);
  void sort(const points_view<T, D>& points);

  Context context_;
  communicator& ranks_;
  grid<T, D> space_;
  decomposition<D> shares_;
  device_decomposition<Context, D> device_shares_;
  migration<Context> moves_;
  sparse_migration<Context> few_;
  array<std::byte, Context> spare_[D];
  array<std::uint32_t, Context> owners_, keys_[2], order_[2];
  workspace<Context> scratch_;
  std::size_t sorted_ = 0;
  int last_ = 0;  ///< of order_
  rank_report report_;
  std::int64_t wish_ = 0;
  double lost_ = 0;  ///< in the last step
  double lost_since_balance_ = 0;
};

}  // namespace quadrat::detail
