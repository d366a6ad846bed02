// SPDX-License-Identifier: BSD-3-Clause
#include "models/circles/queue.hpp"

#include <cmath>

#include "models/wide_access.hpp"
#include "quadrat/parallel/cuda_launch.hpp"
#include "search/trimmed_rows.cuh"

namespace quadrat::detail {

namespace {

constexpr unsigned queue_block = 128;
/// Words of 32 candidates per thread: 9 rows of cells, some of which need a second word.
constexpr unsigned queue_words = 14;

[[nodiscard]] __device__ std::uint32_t sign_word(float x) { return __float_as_uint(x); }
[[nodiscard]] __device__ std::uint32_t sign_word(double x) { return static_cast<std::uint32_t>(__double2hiint(x)); }

template <typename T, int D>
[[nodiscard]] __device__ vec<T, D> load_position(const agent_record<T, D>* agents, std::uint32_t slot) {
  vec<T, D> position;
  if constexpr (sizeof(T) == 4) {
    float w[4];
    asm volatile("ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(w[0]), "=f"(w[1]), "=f"(w[2]), "=f"(w[3])
                 : "l"(agents + slot));
    for (int axis = 0; axis < D; ++axis) position[axis] = w[axis];
  } else {
    position = agents[slot].position;
  }
  return position;
}

/// Four consecutive positions.
template <typename T, int D>
struct four_positions {
  vec<T, D> position[4];

  __device__ explicit four_positions(const agent_record<T, D>* first) {
#pragma unroll
    for (std::uint32_t k = 0; k < 4; ++k) position[k] = load_position(first, k);
  }
};

/// Bits of the candidates in [first, last), at most 32, that are within reach, the agent itself included. Tested four
/// at a time: up to three records beyond the last are read, and their bits dropped.
template <typename T, int D>
__device__ std::uint32_t test_candidates(const circles_queue_step<T, D>& step, const vec<T, D>& here, T squared_reach,
                                         std::uint32_t first, std::uint32_t last) {
  std::uint32_t mask = 0;
  for (std::uint32_t at = first; at < last; at += 4) {
    const agent_record<T, D>* four = step.from + at;
    const four_positions<T, D> others(four);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      mask = __funnelshift_l(sign_word(squared_norm(others.position[k] - here) - squared_reach), mask, 1);
    }
  }
  const std::uint32_t length = last - first;
  return (__brev(mask) >> (32 - (length + 3) / 4 * 4)) & (0xffffffffu >> (32 - length));
}

/// Moves an agent by its sum.
template <typename Law, typename T, int D>
__device__ void finish(const circles_queue_step<T, D>& step, const Law& law, std::uint32_t slot, const vec<T, D>& here,
                       const circles_sum<T, D>& sum) {
  if (slot == 0) *step.words.next = *step.words.now + 1;
  agent_record<T, D> agent = read_record(step.from, slot);
  const vec<T, D> position = law.moved(here, sum);
  if (is_finite(position)) {
    agent.position = position;
  } else {
    step.words.fault.raise(*step.words.now, agent.id);
  }
  step.to[slot] = agent;
  if (step.neighbors != nullptr) step.neighbors[slot] = sum.met - 1;
}

/// Thread: a slot. Candidates that do not fit in the queue are processed at once.
template <typename Law, typename T, int D>
__global__ void __launch_bounds__(queue_block)
    queue_kernel(const __grid_constant__ circles_queue_step<T, D> step, const __grid_constant__ Law law) {
  __shared__ uint2 queue[queue_words][queue_block];
  const std::uint32_t slot = blockIdx.x * queue_block + threadIdx.x;
  if (slot >= step.count) return;
  const vec<T, D> here = load_position(step.from, slot);
  circles_sum<T, D> sum;
  const auto meet = [&](std::uint32_t bits, std::uint32_t first) {
    const vec<T, D> r =
        load_position(step.from, first + static_cast<std::uint32_t>(__ffs(static_cast<int>(bits))) - 1) - here;
    law.meet(r, squared_norm(r), sum);
  };
  unsigned queued = 0;
  const row_walk<T, D, row_kind::open> walk(step.system, step.offsets, here, law.reach);
  walk.for_each([&](const row_range<D>& range) {
    for (std::uint32_t first = range.first; first < range.last; first += 32) {
      std::uint32_t mask = test_candidates(step, here, law.squared_reach, first, min(first + 32, range.last));
      if (mask == 0) continue;
      if (queued < queue_words) {
        queue[queued++][threadIdx.x] = {mask, first};
      } else {
        for (; mask != 0; mask &= mask - 1) meet(mask, first);
      }
    }
  });
  uint2 word{0, 0};
  for (unsigned next = 0;; word.x &= word.x - 1) {
    if (word.x == 0) {
      if (next == queued) break;
      word = queue[next++][threadIdx.x];
    }
    meet(word.x, word.y);
  }
  finish(step, law, slot, here, sum);
}

/// Adds four candidates, of which the first `count` are in the row of cells.
template <typename Law, typename T, int D>
__device__ void meet_four(const Law& law, const vec<T, D>& here, const four_positions<T, D>& others, int count,
                          circles_sum<T, D>& sum) {
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const vec<T, D> r = others.position[k] - here;
    law.meet(r, squared_norm(r), sum, k < count);
  }
}

/// Thread: a slot. Without the queue, for long rows or if most candidates are neighbors.
template <typename Law, typename T, int D>
__global__ void __launch_bounds__(queue_block)
    direct_kernel(const __grid_constant__ circles_queue_step<T, D> step, const __grid_constant__ Law law) {
  const std::uint32_t slot = blockIdx.x * queue_block + threadIdx.x;
  if (slot >= step.count) return;
  const vec<T, D> here = load_position(step.from, slot);
  circles_sum<T, D> sum;
  const row_walk<T, D, row_kind::open> walk(step.system, step.offsets, here, law.reach);
  walk.for_each([&](const row_range<D>& range) {
    // Load the next four while these are processed; otherwise the compiler would wait for each load in turn.
    const agent_record<T, D>* four = step.from + range.first;
    four_positions<T, D> next(four);
    for (auto left = static_cast<int>(range.last - range.first); left > 0; left -= 4) {
      const four_positions<T, D> others = next;
      if (left > 4) next = four_positions<T, D>(four += 4);
      meet_four(law, here, others, left, sum);
    }
  });
  finish(step, law, slot, here, sum);
}

/// Rows of cells listed by the threads of a block, so that threads process them in one loop and wait for each other
/// once instead of in every row.
template <unsigned Most, typename T, int D>
class row_lists {
 public:
  using rows_type = uint2[Most][queue_block];
  __device__ explicit row_lists(rows_type& rows) : rows_(rows) {}

  /// Lists a row of cells; one that does not fit is processed at once.
  template <typename Law>
  __device__ void add(const circles_queue_step<T, D>& step, const Law& law, const vec<T, D>& here,
                      const row_range<D>& range, circles_sum<T, D>& sum) {
    if (listed_ < Most) {
      rows_[listed_++][threadIdx.x] = {range.first, range.last};
      return;
    }
    for (std::uint32_t other = range.first; other < range.last; ++other) {
      const vec<T, D> r = load_position(step.from, other) - here;
      law.meet(r, squared_norm(r), sum);
    }
  }
  /// Processes the listed rows, and empties the list.
  template <typename Law>
  __device__ void meet(const circles_queue_step<T, D>& step, const Law& law, const vec<T, D>& here,
                       circles_sum<T, D>& sum) {
    const agent_record<T, D>* four = nullptr;
    int left = 0;
    unsigned number = 0;
    const auto next_row = [&] {
      if (number == listed_) return;
      const uint2 row = rows_[number++][threadIdx.x];
      four = step.from + row.x;
      left = static_cast<int>(row.y - row.x);
    };
    next_row();
    if (left > 0) {
      four_positions<T, D> next(four);
      do {
        const four_positions<T, D> others = next;
        const int count = left;
        left -= 4;
        four += 4;
        if (left <= 0) next_row();
        if (left > 0) next = four_positions<T, D>(four);
        meet_four(law, here, others, count, sum);
      } while (left > 0);
    }
    listed_ = 0;
  }

 private:
  rows_type& rows_;
  unsigned listed_ = 0;
};

/// Rows of cells that a thread lists: all rows, or those of a few layers of cells. More would take shared memory from
/// the first-level cache.
constexpr unsigned listed_rows = 9;
constexpr unsigned listed_rows_of_layers = 10;

/// Thread: a slot. The same if a point has few rows of cells.
template <typename Law, typename T, int D>
__global__ void __launch_bounds__(queue_block)
    listed_kernel(const __grid_constant__ circles_queue_step<T, D> step, const __grid_constant__ Law law) {
  __shared__ uint2 rows[listed_rows][queue_block];
  const std::uint32_t slot = blockIdx.x * queue_block + threadIdx.x;
  if (slot >= step.count) return;
  const vec<T, D> here = load_position(step.from, slot);
  circles_sum<T, D> sum;
  row_lists<listed_rows, T, D> lists(rows);
  const row_walk<T, D, row_kind::open> walk(step.system, step.offsets, here, law.reach);
  walk.for_each([&](const row_range<D>& range) { lists.add(step, law, here, range, sum); });
  lists.meet(step, law, here, sum);
  finish(step, law, slot, here, sum);
}

/// Blocks per multiprocessor, which bounds registers. More warps hide more of the latency of loads.
template <typename T>
constexpr unsigned layers_blocks = sizeof(T) == 4 ? 10 : 1;

/// Thread: a slot. The same if it has many rows, some layers of cells at a time.
template <typename Law, typename T, int D>
__global__ void __launch_bounds__(queue_block, layers_blocks<T>)
    layers_kernel(const __grid_constant__ circles_queue_step<T, D> step, const __grid_constant__ Law law, int layers) {
  __shared__ uint2 rows[listed_rows_of_layers][queue_block];
  const std::uint32_t slot = blockIdx.x * queue_block + threadIdx.x;
  if (slot >= step.count) return;
  const vec<T, D> here = load_position(step.from, slot);
  circles_sum<T, D> sum;
  row_lists<listed_rows_of_layers, T, D> lists(rows);
  const row_walk<T, D, row_kind::open> walk(step.system, step.offsets, here, law.reach);
  for (int layer = walk.first_layer(); layer <= walk.last_layer(); layer += layers) {
    walk.for_each_in_layers(layer, min(layer + layers - 1, walk.last_layer()),
                            [&](const row_range<D>& range) { lists.add(step, law, here, range, sum); });
    lists.meet(step, law, here, sum);
  }
  finish(step, law, slot, here, sum);
}

/// Rows of cells around a point, along an axis.
template <typename T, int D>
[[nodiscard]] double rows_along(const search_system<T, D>& cells, T reach, int axis) {
  return 2 * std::ceil(static_cast<double>(reach * cells.cells_per_length[axis]) - 1e-3) + 1;
}

template <typename Law, typename T, int D>
void launch_dense(const cuda_context& context, const circles_queue_step<T, D>& step, const Law& law, unsigned blocks) {
  const double rows_of_layer = rows_along(step.system, law.reach, 1);
  const double rows = D == 3 ? rows_of_layer * rows_along(step.system, law.reach, D - 1) : rows_of_layer;
  if (rows <= listed_rows) {
    listed_kernel<<<blocks, queue_block, 0, context.stream()>>>(step, law);
    return;
  }
  if constexpr (D == 3) {
    if (rows_of_layer <= listed_rows_of_layers) {
      const auto layers = static_cast<int>(listed_rows_of_layers / rows_of_layer);
      layers_kernel<<<blocks, queue_block, 0, context.stream()>>>(step, law, layers);
      return;
    }
  }
  direct_kernel<<<blocks, queue_block, 0, context.stream()>>>(step, law);
}

}  // namespace

template <typename Law, typename T, int D>
void enqueue_circles_queue_step(const cuda_context& context, const circles_queue_step<T, D>& step, const Law& law) {
  if (step.count == 0) return;
  const cuda_launch launch(context, "circles.queue");
  const unsigned blocks = cuda_launch::blocks(step.count, queue_block);
  if (step.dense) {
    launch_dense(context, step, law, blocks);
  } else {
    queue_kernel<<<blocks, queue_block, 0, context.stream()>>>(step, law);
  }
  launch.check();
}

#define QUADRAT_CIRCLES_QUEUE(T, D)                                                              \
  template void enqueue_circles_queue_step(const cuda_context&, const circles_queue_step<T, D>&, \
                                           const circles_sine_law<T, D>&);                       \
  template void enqueue_circles_queue_step(const cuda_context&, const circles_queue_step<T, D>&, \
                                           const circles_original_law<T, D>&);
QUADRAT_CIRCLES_QUEUE(float, 2)
QUADRAT_CIRCLES_QUEUE(float, 3)
QUADRAT_CIRCLES_QUEUE(double, 2)
QUADRAT_CIRCLES_QUEUE(double, 3)
#undef QUADRAT_CIRCLES_QUEUE

}  // namespace quadrat::detail
