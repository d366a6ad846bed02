// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/parallel/cuda_graph.hpp"

#include "quadrat/core/config.hpp"
#include "quadrat/core/error.hpp"

#if QUADRAT_HAS_CUDA
#include "core/cuda_check.hpp"
#endif

namespace quadrat {

cuda_graph::~cuda_graph() { release(); }

#if QUADRAT_HAS_CUDA

using detail::check_cuda;

void cuda_graph::begin(const cuda_context& context) {
  context.activate();
  check_cuda(cudaStreamBeginCapture(context.stream(), cudaStreamCaptureModeThreadLocal), "beginning a graph");
}

void cuda_graph::abandon(const cuda_context& context) noexcept {
  cudaGraph_t graph = nullptr;
  if (cudaStreamEndCapture(context.stream(), &graph) == cudaSuccess) cudaGraphDestroy(graph);
  cudaGetLastError();
}

void cuda_graph::end(const cuda_context& context) {
  cudaGraph_t graph = nullptr;
  check_cuda(cudaStreamEndCapture(context.stream(), &graph), "capturing a graph");
  cudaGraphExec_t made = nullptr;
  const cudaError_t status = cudaGraphInstantiate(&made, graph, 0);
  cudaGraphDestroy(graph);
  check_cuda(status, "making a graph");
  release();
  executable_ = made;
  // Uploaded now, so that the first launch takes no longer than the others.
  check_cuda(cudaGraphUpload(made, context.stream()), "uploading a graph");
}

void cuda_graph::launch(const cuda_context& context) const {
  require(!empty(), "the graph is empty; capture work first");
  context.activate();
  check_cuda(cudaGraphLaunch(static_cast<cudaGraphExec_t>(executable_), context.stream()), "launching a graph");
}

void cuda_graph::release() noexcept {
  if (executable_ != nullptr) cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(executable_));
  executable_ = nullptr;
}

#else

// This build cannot make a context, so only the destructor is ever reached.
void cuda_graph::begin(const cuda_context& context) { context.activate(); }
void cuda_graph::abandon(const cuda_context&) noexcept {}
void cuda_graph::end(const cuda_context& context) { context.activate(); }
void cuda_graph::launch(const cuda_context& context) const { context.activate(); }
void cuda_graph::release() noexcept { executable_ = nullptr; }

#endif

}  // namespace quadrat
