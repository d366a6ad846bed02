// SPDX-License-Identifier: BSD-3-Clause Neighbors inside a user-written kernel, with the caller's memory and
// stream.
#include <cuda_runtime.h>
#include <quadrat/cells/make_cells.hpp>

#include <cstdio>
#include <exception>
#include <stdexcept>

#include "density.hpp"

namespace {

void check(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

/// One thread per point, in the order of cells, so that the threads of a warp visit the same cells.
/// `list.particle(slot)` is the point in a slot.
template <typename View>
__global__ void density_kernel(View list, quadrat::points_view<float, 3> points, float* density) {
  const unsigned slot = blockIdx.x * blockDim.x + threadIdx.x;
  if (slot >= points.size()) return;
  const quadrat::particle_id i = list.particle(slot);
  density[i] = density_at(list, points, i);
}

int run(cudaStream_t stream) {
  const std::vector<quadrat::vec<float, 3>> host = random_points();
  quadrat::vec<float, 3>* device = nullptr;
  float* density = nullptr;
  check(cudaMalloc(&device, count * sizeof(*device)));
  check(cudaMalloc(&density, count * sizeof(*density)));
  check(cudaMemcpyAsync(device, host.data(), count * sizeof(*device), cudaMemcpyHostToDevice, stream));

  quadrat::cuda_context::options options;
  options.stream = stream;
  const quadrat::cuda_context context(options);
  auto cells = quadrat::make_cells(context, periodic_box(), cutoff);
  const auto points = quadrat::points_of(device, count);  // a view: nothing is copied
  cells.build(points);                                    // waits; throws if a point is NaN or outside
  density_kernel<<<(count + 255) / 256, 256, 0, stream>>>(cells.view(), points, density);
  check(cudaGetLastError());
  context.synchronize();

  std::vector<float> result(count);
  check(cudaMemcpy(result.data(), density, count * sizeof(float), cudaMemcpyDeviceToHost));
  check(cudaFree(density));
  check(cudaFree(device));
  return judge(result);
}

}  // namespace

int main() {
  if (quadrat::cuda_devices().empty()) {
    std::puts("visitor: built with CUDA, but there is no device here");
    return 0;
  }
  try {
    cudaStream_t stream = nullptr;
    check(cudaStreamCreate(&stream));
    const int status = run(stream);
    check(cudaStreamDestroy(stream));
    return status;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "visitor: %s\n", error.what());
    return 1;
  }
}
