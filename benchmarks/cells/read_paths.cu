// SPDX-License-Identifier: BSD-3-Clause
#include "cells/read_paths.hpp"

#include <cuda_runtime.h>

#include "quadrat/core/curves.hpp"
#include "quadrat/parallel/cuda_launch.hpp"

namespace quadrat::bench {

namespace {

/// An explicit ld.global: in plain C++ the compiler chooses ld.global.nc if it can prove that nobody writes.
struct plain_reader {
  const float4* records;
  const std::uint32_t* firsts;
  const std::uint32_t* entries;

  __device__ static std::uint32_t word(const std::uint32_t* from) {
    std::uint32_t value;
    asm("ld.global.u32 %0, [%1];" : "=r"(value) : "l"(__cvta_generic_to_global(from)));
    return value;
  }
  __device__ float4 record(std::uint32_t i) const {
    float4 value;
    asm("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];"
        : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
        : "l"(__cvta_generic_to_global(records + i)));
    return value;
  }
  __device__ std::uint32_t first(std::uint32_t cell) const { return word(firsts + cell); }
  __device__ std::uint32_t entry(std::uint32_t i) const { return word(entries + i); }
};

struct read_only_reader {
  const float4* records;
  const std::uint32_t* firsts;
  const std::uint32_t* entries;

  __device__ float4 record(std::uint32_t i) const { return __ldg(records + i); }
  __device__ std::uint32_t first(std::uint32_t cell) const { return __ldg(firsts + cell); }
  __device__ std::uint32_t entry(std::uint32_t i) const { return __ldg(entries + i); }
};

struct texture_reader {
  cudaTextureObject_t records;
  cudaTextureObject_t firsts;
  cudaTextureObject_t entries;

  __device__ float4 record(std::uint32_t i) const { return tex1Dfetch<float4>(records, static_cast<int>(i)); }
  __device__ std::uint32_t first(std::uint32_t cell) const {
    return tex1Dfetch<unsigned>(firsts, static_cast<int>(cell));
  }
  __device__ std::uint32_t entry(std::uint32_t i) const { return tex1Dfetch<unsigned>(entries, static_cast<int>(i)); }
};

/// Calls f(particle, record) for each particle of a cell.
template <walk_layout Layout, typename Reader, typename F>
__device__ void for_each_in_cell(const Reader& read, const walk_arrays& arrays, std::uint32_t cell, F&& f) {
  const std::uint32_t first = read.first(cell);
  if constexpr (Layout == walk_layout::packed) {
    for (std::uint32_t i = first; i != no_particle;) {
      const float4 record = read.record(i);
      f(i, record);
      i = __float_as_uint(record.w);
    }
  } else if constexpr (Layout == walk_layout::separate) {
    for (std::uint32_t i = first; i != no_particle; i = read.entry(i)) f(i, read.record(i));
  } else {
    const auto cells = static_cast<std::uint32_t>(arrays.cells);
    for (std::uint32_t k = 0; k < first; ++k) {
      const std::uint32_t at = Layout == walk_layout::column_major ? cell + k * cells : cell * arrays.capacity + k;
      const std::uint32_t i = read.entry(at);
      f(i, read.record(i));
    }
  }
}

/// One thread per particle. The arithmetic of a pair equals that of walk_of_particle.
template <walk_layout Layout, typename Reader>
__global__ void __launch_bounds__(cuda_launch::block)
    walk_kernel(Reader read, walk_arrays arrays, grid<float, 3> space, float cutoff, walk_result<float>* results) {
  const std::uint32_t me = blockIdx.x * cuda_launch::block + threadIdx.x;
  if (me >= arrays.count) return;
  const float4 own = read.record(me);
  const vec<float, 3> here{{own.x, own.y, own.z}};
  const row_major_numbering<3> numbering{space.cells};
  const cell_range<3> reach = space.reach(here, cutoff);
  walk_result<float> sum{};
  const auto meet = [&](std::uint32_t other, const float4& record) {
    const vec<float, 3> separation = vec<float, 3>{{record.x, record.y, record.z}} - here;
    const float squared_distance = squared_norm(separation);
    if (!(squared_distance < cutoff * cutoff) || other == me) return;
    sum.neighbors += 1;
    if (squared_distance == 0) return;
    const float distance = sqrtf(squared_distance);
    sum.force -= separation * ((cutoff - distance) / distance);
  };
  vec<int, 3> cell{};
  for (cell[2] = reach.first[2]; cell[2] <= reach.last[2]; ++cell[2]) {
    for (cell[1] = reach.first[1]; cell[1] <= reach.last[1]; ++cell[1]) {
      for (cell[0] = reach.first[0]; cell[0] <= reach.last[0]; ++cell[0]) {
        for_each_in_cell<Layout>(read, arrays, numbering.id(cell), meet);
      }
    }
  }
  results[me] = sum;
}

/// An array as a linear texture.
class linear_texture {
 public:
  linear_texture(const void* first, std::size_t bytes, const cudaChannelFormatDesc& format) {
    if (first == nullptr) return;
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = const_cast<void*>(first);
    resource.res.linear.desc = format;
    resource.res.linear.sizeInBytes = bytes;
    cudaTextureDesc texture{};
    texture.readMode = cudaReadModeElementType;
    const cudaError_t status = cudaCreateTextureObject(&object_, &resource, &texture, nullptr);
    if (status != cudaSuccess) throw backend_error(message("CUDA: making a texture: ", cudaGetErrorString(status)));
  }
  ~linear_texture() {
    if (object_ != 0) cudaDestroyTextureObject(object_);
  }
  linear_texture(const linear_texture&) = delete;
  linear_texture& operator=(const linear_texture&) = delete;
  [[nodiscard]] cudaTextureObject_t object() const { return object_; }

 private:
  cudaTextureObject_t object_ = 0;
};

struct walk_setup {
  cuda_context context;
  grid<float, 3> space;
  float cutoff;
  walk_arrays arrays;
  walk_result<float>* results;
};

template <walk_layout Layout, read_path Path>
class walk_of final : public read_path_walk {
 public:
  explicit walk_of(const walk_setup& setup)
      : setup_(setup),
        records_(textured(setup.arrays.records), setup.arrays.count * sizeof(float4), cudaCreateChannelDesc<float4>()),
        firsts_(textured(setup.arrays.firsts), setup.arrays.cells * sizeof(unsigned),
                cudaCreateChannelDesc<unsigned>()),
        entries_(textured(setup.arrays.entries), setup.arrays.entry_count * sizeof(unsigned),
                 cudaCreateChannelDesc<unsigned>()) {}

  void launch() override {
    const auto* records = static_cast<const float4*>(setup_.arrays.records);
    if constexpr (Path == read_path::texture) {
      launch_with(texture_reader{records_.object(), firsts_.object(), entries_.object()});
    } else if constexpr (Path == read_path::plain) {
      launch_with(plain_reader{records, setup_.arrays.firsts, setup_.arrays.entries});
    } else {
      launch_with(read_only_reader{records, setup_.arrays.firsts, setup_.arrays.entries});
    }
  }

 private:
  static const void* textured(const void* memory) { return Path == read_path::texture ? memory : nullptr; }

  template <typename Reader>
  void launch_with(const Reader& reader) const {
    const cuda_launch launch(setup_.context, "bench: read paths");
    walk_kernel<Layout><<<launch.blocks(setup_.arrays.count), cuda_launch::block, 0, setup_.context.stream()>>>(
        reader, setup_.arrays, setup_.space, setup_.cutoff, setup_.results);
    launch.check();
  }

  walk_setup setup_;
  linear_texture records_;
  linear_texture firsts_;
  linear_texture entries_;
};

template <walk_layout Layout>
std::unique_ptr<read_path_walk> make_walk(read_path path, const walk_setup& setup) {
  switch (path) {
    case read_path::texture:
      return std::make_unique<walk_of<Layout, read_path::texture>>(setup);
    case read_path::plain:
      return std::make_unique<walk_of<Layout, read_path::plain>>(setup);
    default:
      return std::make_unique<walk_of<Layout, read_path::read_only>>(setup);
  }
}

}  // namespace

std::unique_ptr<read_path_walk> make_read_path_walk(const cuda_context& context, read_path path, walk_layout layout,
                                                    const grid<float, 3>& space, float cutoff,
                                                    const walk_arrays& arrays, walk_result<float>* results) {
  context.activate();
  const walk_setup setup{context, space, cutoff, arrays, results};
  switch (layout) {
    case walk_layout::separate:
      return make_walk<walk_layout::separate>(path, setup);
    case walk_layout::packed:
      return make_walk<walk_layout::packed>(path, setup);
    case walk_layout::column_major:
      return make_walk<walk_layout::column_major>(path, setup);
    default:
      return make_walk<walk_layout::row_major>(path, setup);
  }
}

}  // namespace quadrat::bench
