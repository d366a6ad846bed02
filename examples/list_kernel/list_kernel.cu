// SPDX-License-Identifier: BSD-3-Clause
// A kernel of one's own over the rows of a neighbor list.
#include <cuda_runtime.h>

#include <cstdio>
#include <exception>
#include <stdexcept>

#include "springs.hpp"

namespace {

void check(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

/// One thread per row.
__global__ void force_kernel(quadrat::neighbor_list_view<float, 3> list, vector3* forces) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < list.rows) forces[i] = force_on(list, i);
}

int run() {
  const std::vector<vector3> host = random_points();
  vector3 *points = nullptr, *forces = nullptr;
  check(cudaMalloc(&points, count * sizeof(vector3)));
  check(cudaMalloc(&forces, count * sizeof(vector3)));
  check(cudaMemcpy(points, host.data(), count * sizeof(vector3), cudaMemcpyHostToDevice));

  const quadrat::cuda_context context;  // device 0, and a stream of its own
  auto list = quadrat::make_neighbor_list(context, periodic_box(),
                                          {.cutoff = cutoff, .squared_distances = true, .vectors = true});
  list.build(quadrat::points_of(points, count));  // waits; throws where a point is NaN
  force_kernel<<<(count + 255) / 256, 256, 0, context.stream()>>>(list.view(), forces);
  check(cudaGetLastError());
  context.synchronize();

  std::vector<vector3> result(count);
  check(cudaMemcpy(result.data(), forces, count * sizeof(vector3), cudaMemcpyDeviceToHost));
  check(cudaFree(forces));
  check(cudaFree(points));
  return judge(host, result);
}

}  // namespace

int main() {
  if (quadrat::cuda_devices().empty()) {
    std::puts("list_kernel: built with CUDA, but there is no device here");
    return 0;
  }
  try {
    return run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "list_kernel: %s\n", error.what());
    return 1;
  }
}
