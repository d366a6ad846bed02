// SPDX-License-Identifier: BSD-3-Clause
#include "models/granular/fused.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "models/granular/fused_collide.cuh"
#include "models/granular/fused_order.cuh"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/core/folding.hpp"
#include "quadrat/parallel/cuda_graph.hpp"
#include "quadrat/parallel/cuda_launch.hpp"
#include "quadrat/parallel/for_each.hpp"

namespace quadrat {

namespace {

using namespace detail;  // NOLINT(google-build-using-namespace): the kernels of this engine

/// The largest cell edge is 64 units, so that two grains of a neighborhood are less than 128 units apart along an axis.
template <typename T>
compressed_positions<T> compression_for(const granular_setup<T>& setup) {
  const grid<T, 3>& space = setup.space;
  double edge = 0;
  double extent = 0;
  for (int axis = 0; axis < 3; ++axis) {
    edge = std::fmax(edge, static_cast<double>(space.edge(axis)));
    extent = std::fmax(extent, std::fmax(std::fabs(static_cast<double>(space.domain.lower[axis])),
                                         static_cast<double>(space.domain.length[axis])));
  }
  const double units = 64 / edge;
  // One position is rounded down, the other to nearest, and a borrow: 1.5 units per axis; plus the rounding of T.
  const double rounding = 1.5 + 8 * std::numeric_limits<T>::epsilon() * extent * units;
  const double reach = static_cast<double>(setup.law.diameter) * units + std::sqrt(3.0) * rounding;
  // One more for the borrow into the unused byte.
  return {space.domain.lower, static_cast<T>(units), -static_cast<int>(std::ceil(reach * reach)) - 1};
}

/// Index: slot. From arrays by id to pending grains; `order` is the id of each slot (nullptr: slot = id).
template <typename T>
struct place_pending {
  const vec<T, 3>* positions;
  const vec<T, 3>* velocities;
  const particle_id* order;
  grain<T>* grains;

  QUADRAT_HD void operator()(std::size_t slot) const {
    const particle_id id = order != nullptr ? order[slot] : static_cast<particle_id>(slot);
    grains[slot] = {{positions[id], id}, {velocities[id], 0}};
  }
};

/// Index: slot. From pending grains to arrays by id.
template <typename T>
struct gather_pending {
  const grain<T>* grains;
  vec<T, 3>* positions;
  vec<T, 3>* velocities;

  QUADRAT_HD void operator()(std::size_t slot) const {
    const particle_id id = grains[slot].position.word;
    positions[id] = grains[slot].position.value;
    velocities[id] = grains[slot].velocity.value;
  }
};

/// Index: slot. The id of its pending grain.
template <typename T>
struct read_pending_ids {
  const grain<T>* grains;
  particle_id* ids;

  QUADRAT_HD void operator()(std::size_t slot) const { ids[slot] = grains[slot].position.word; }
};

/// Index: 0.
struct begin_moves {
  std::uint64_t* moves;
  std::uint64_t step;
  std::uint64_t* fault;
  const std::uint64_t* from;  ///< nullptr: no fault

  QUADRAT_HD void operator()(std::size_t) const {
    *moves = step;
    *fault = from != nullptr ? *from : no_run_fault;
  }
};

template <typename T>
class fused_granular_engine final : public granular_engine<cuda_context, T> {
 public:
  fused_granular_engine(const cuda_context& context, const granular_setup<T>& setup)
      : context_(context),
        by_id_(context.reproducibility() == determinism::run_to_run),
        tiles_(static_cast<std::uint32_t>(setup.space.size() / scan_tile + 1)),
        pending_(context, setup.count),
        ordered_(context, setup.count),
        words_(context, setup.count / 4 * 4 + 8),
        rank_(context, setup.count),
        counts_(context, tiles_ * std::size_t{scan_tile}),
        offsets_(context, counts_.size()),
        scan_words_(context, tiles_ + std::size_t{3}),
        ids_(context, by_id_ ? setup.count : 0) {
    require(context.reproducibility() != determinism::canonical,
            "the granular method fused has no determinism level canonical; sorted and all other cell lists have it");
    state_.setup = setup;
    state_.compressed = compression_for(setup);
    state_.count = static_cast<std::uint32_t>(setup.count);
    state_.cells = static_cast<std::uint32_t>(setup.space.size());
    state_.pending = pending_.data();
    state_.ordered = ordered_.data();
    state_.words = words_.data();
    state_.rank = rank_.data();
    state_.counts = counts_.data();
    state_.offsets = offsets_.data();
    state_.tile_states = scan_words_.data() + 3;
    state_.ticket = reinterpret_cast<unsigned long long*>(scan_words_.data());
    state_.moves = scan_words_.data() + 1;
    state_.fault.first = scan_words_.data() + 2;
    state_.ids = ids_.data();
    clear();
  }

  void set(std::span<const vec<T, 3>> positions, std::span<const vec<T, 3>> velocities,
           std::span<const particle_id> storage_order, std::uint64_t step) override {
    const auto from_positions = to_device(context_, positions);
    const auto from_velocities = to_device(context_, velocities);
    const auto order = to_device(context_, storage_order);
    clear();
    place({from_positions.data(), from_velocities.data(), order.data(), step, nullptr});
    context_.synchronize();
  }

  void place(const placed_grains<T>& grains) override {
    for_each(context_, "granular.fused.place", state_.count,
             place_pending<T>{grains.positions, grains.velocities, grains.order, pending_.data()});
    for_each(context_, "granular.fused.begin", 1,
             begin_moves{state_.moves, grains.step, state_.fault.first, grains.fault});
  }

  const std::uint64_t* fault() const override { return state_.fault.first; }

  void advance(std::size_t steps) override {
    if (steps == 0 || state_.count == 0) return;
    context_.activate();
    move();
    // All steps but the last also make the motion of the next step.
    std::size_t left = steps - 1;
    for (; left >= steps_a_graph; left -= steps_a_graph) graph().launch(context_);
    for (; left > 0; --left) one_step<true>();
    one_step<false>();
  }

  void check() override { throw_if_blown_up(to_host(context_, state_.fault.first, 1).front()); }

  void gather(vec<T, 3>* positions, vec<T, 3>* velocities) override {
    for_each(context_, "granular.fused.gather", state_.count,
             gather_pending<T>{pending_.data(), positions, velocities});
  }

  bool gather_order(particle_id* ids) override {
    for_each(context_, "granular.fused.ids", state_.count, read_pending_ids<T>{pending_.data(), ids});
    return true;
  }

  std::vector<particle_id> storage_order() override {
    const std::vector<grain<T>> grains = to_host(context_, pending_);
    std::vector<particle_id> order(grains.size());
    std::transform(grains.begin(), grains.end(), order.begin(), [](const grain<T>& g) { return g.position.word; });
    return order;
  }

  std::size_t bytes() const override {
    return pending_.bytes() + ordered_.bytes() + words_.bytes() + rank_.bytes() + counts_.bytes() + offsets_.bytes() +
           scan_words_.bytes() + ids_.bytes();
  }

 private:
  static constexpr std::size_t steps_a_graph = 10;
  static constexpr unsigned block = cuda_launch::block;
  /// Below this, one thread per grain leaves the GPU half empty, and two are faster.
  static constexpr std::uint32_t few_grains = 300000;
  /// Each of the 9 rows of cells gives one run in a queue unless it holds more than 32 candidates, or crosses the end
  /// of a folded row.
  static constexpr int queue = 9;

  /// The state that every step restores.
  void clear() {
    fill_bytes(context_, counts_.data(), 0, counts_.bytes());
    fill_bytes(context_, words_.data(), 0, words_.bytes());
    fill_bytes(context_, scan_words_.data(), 0, scan_words_.bytes());
  }

  void move() {
    const cuda_launch launch(context_, "granular.fused.move");
    move_kernel<T><<<cuda_launch::blocks(state_.count), block, 0, context_.stream()>>>(state_);
    launch.check();
  }

  template <bool MoveOn>
  void one_step() {
    const cuda_launch launch(context_, "granular.fused.step");
    const cuda_stream stream = context_.stream();
    const unsigned blocks = cuda_launch::blocks(state_.count);
    offsets_kernel<T><<<tiles_, scan_threads, 0, stream>>>(state_, tiles_);
    if (by_id_) {
      arrivals_kernel<T><<<blocks, block, 0, stream>>>(state_);
      scatter_kernel<T, true><<<blocks, block, 0, stream>>>(state_);
    } else {
      scatter_kernel<T, false><<<blocks, block, 0, stream>>>(state_);
    }
    // 48 warps per multiprocessor in float: with more, registers spill; fewer hide too little latency.
    constexpr int resident = std::is_same_v<T, float> ? 12 : 6;
    if (state_.count < few_grains) {
      collide<2, 256, std::is_same_v<T, float> ? 4 : 2, MoveOn>();
    } else {
      collide<1, 128, resident, MoveOn>();
    }
    launch.check();
  }

  template <int Lanes, int Threads, int Blocks, bool MoveOn>
  void collide() {
    const unsigned blocks = cuda_launch::blocks(std::size_t{state_.count} * Lanes, Threads);
    if (state_.setup.space.folded) {
      collide_kernel<T, true, Lanes, queue, Threads, Blocks, MoveOn><<<blocks, Threads, 0, context_.stream()>>>(state_);
    } else {
      collide_kernel<T, false, Lanes, queue, Threads, Blocks, MoveOn>
          <<<blocks, Threads, 0, context_.stream()>>>(state_);
    }
  }

  cuda_graph& graph() {
    if (graph_.empty()) {
      graph_.capture(context_, [&] {
        for (std::size_t step = 0; step < steps_a_graph; ++step) one_step<true>();
      });
    }
    return graph_;
  }

  cuda_context context_;
  bool by_id_;
  std::uint32_t tiles_;
  array<grain<T>, cuda_context> pending_;
  array<grain<T>, cuda_context> ordered_;
  array<std::uint32_t, cuda_context> words_;
  array<std::uint32_t, cuda_context> rank_;
  array<std::uint32_t, cuda_context> counts_;
  array<std::uint32_t, cuda_context> offsets_;
  array<std::uint64_t, cuda_context> scan_words_;  ///< ticket, moves, fault, then one word per tile
  array<particle_id, cuda_context> ids_;
  fused_state<T> state_{};
  cuda_graph graph_;
};

}  // namespace

template <typename T>
std::unique_ptr<granular_engine<cuda_context, T>> make_fused_granular_engine(const cuda_context& context,
                                                                             const detail::granular_setup<T>& setup) {
  detail::granular_setup<T> stored = setup;
  stored.space = folded(setup.space, {setup.count, setup.law.diameter});
  return std::make_unique<fused_granular_engine<T>>(context, stored);
}

template std::unique_ptr<granular_engine<cuda_context, float>> make_fused_granular_engine(
    const cuda_context&, const detail::granular_setup<float>&);
template std::unique_ptr<granular_engine<cuda_context, double>> make_fused_granular_engine(
    const cuda_context&, const detail::granular_setup<double>&);

}  // namespace quadrat
