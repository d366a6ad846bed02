// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/select.hpp"

#include <thrust/iterator/counting_iterator.h>
#include <cub/device/device_select.cuh>

#include "parallel/cub_call.hpp"
#include "parallel/partition.hpp"

namespace quadrat::detail {

namespace {

struct differs {
  const std::uint32_t* values;
  std::uint32_t common;

  __device__ bool operator()(std::uint32_t i) const { return values[i] != common; }
};

}  // namespace

void select_others(const cuda_context& context, const std::uint32_t* values, std::uint32_t common, std::size_t count,
                   std::uint32_t* indices, std::uint32_t* number, workspace<cuda_context>& scratch) {
  require_count_fits("select_others", count);
  constexpr const char* name = "quadrat::select_others";
  const cuda_launch launch(context, name);
  const auto call = [&](void* temporary, std::size_t& bytes) {
    return cub::DeviceSelect::If(temporary, bytes, thrust::counting_iterator<std::uint32_t>(0), indices, number,
                                 static_cast<int>(count), differs{values, common}, context.stream());
  };
  std::size_t bytes = cub_bytes(name, call);
  std::byte* const temporary = scratch.request(context, bytes);
  check_cub(call(temporary, bytes), name);
}

}  // namespace quadrat::detail
