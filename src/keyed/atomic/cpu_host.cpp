// SPDX-License-Identifier: BSD-3-Clause
#include "keyed/atomic/cpu.hpp"

#include "keyed/plain_join.hpp"

namespace quadrat::detail {

template <typename T>
void cpu_atomic_engine::run(const key_reduction<T>& reduction) {
  clear_results(context_, reduction);
  join_elements(context_, keys_, reduction);
}

void cpu_atomic_engine::count(std::uint64_t* results, bool accumulate) {
  clear_counts(context_, results, keys_.key_count, accumulate);
  count_elements(context_, keys_, results);
}

template void cpu_atomic_engine::run(const key_reduction<std::int32_t>&);
template void cpu_atomic_engine::run(const key_reduction<std::int64_t>&);
template void cpu_atomic_engine::run(const key_reduction<float>&);
template void cpu_atomic_engine::run(const key_reduction<double>&);

}  // namespace quadrat::detail
