// SPDX-License-Identifier: BSD-3-Clause
#include "search/neighbor_masks_launch.cuh"

namespace quadrat::detail {

template void enqueue_small_cells(const cuda_context&, const search_key_of_one<float, 2>&, std::size_t, std::size_t,
                                  const small_cells<float, 2>&);
template void enqueue_small_cells(const cuda_context&, const search_key_of_one<float, 3>&, std::size_t, std::size_t,
                                  const small_cells<float, 3>&);
template void enqueue_masks(const cuda_context&, const masks_search<float, 2>&, std::uint32_t*);
template void enqueue_masks(const cuda_context&, const masks_search<float, 3>&, std::uint32_t*);
template void enqueue_entries_of_masks(const cuda_context&, const masks_search<float, 2>&,
                                       const neighbor_sink<float, 2>&);
template void enqueue_entries_of_masks(const cuda_context&, const masks_search<float, 3>&,
                                       const neighbor_sink<float, 3>&);

}  // namespace quadrat::detail
