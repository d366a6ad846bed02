// SPDX-License-Identifier: BSD-3-Clause
#include "search/nearest/children.hpp"

#include <limits>

#include "core/cpu_lanes.hpp"
#include "parallel/cpu_vector.hpp"

namespace quadrat::detail {

namespace {

#define QUADRAT_CHILDREN_SET likely_children_baseline
#define QUADRAT_CHILDREN_TARGET
#include "search/nearest/children_lanes.hpp"

#if defined(__x86_64__)
#define QUADRAT_CHILDREN_SET likely_children_avx2
#define QUADRAT_CHILDREN_TARGET __attribute__((target("avx2")))
#include "search/nearest/children_lanes.hpp"

#define QUADRAT_CHILDREN_SET likely_children_avx512
#define QUADRAT_CHILDREN_TARGET __attribute__((target("avx512f,avx512vl,avx512dq")))
#include "search/nearest/children_lanes.hpp"
#endif

}  // namespace

template <typename T, int D>
std::vector<likely_children_function<T, D>> likely_children_functions() {
  std::vector<likely_children_function<T, D>> functions;
#if defined(__x86_64__)
  if (has_lanes(cpu_lanes::avx512)) functions.push_back(likely_children_avx512<T, D>);
  if (has_lanes(cpu_lanes::avx2)) functions.push_back(likely_children_avx2<T, D>);
#endif
  functions.push_back(likely_children_baseline<T, D>);
  return functions;
}

template std::vector<likely_children_function<float, 2>> likely_children_functions<float, 2>();
template std::vector<likely_children_function<float, 3>> likely_children_functions<float, 3>();
template std::vector<likely_children_function<double, 2>> likely_children_functions<double, 2>();
template std::vector<likely_children_function<double, 3>> likely_children_functions<double, 3>();

}  // namespace quadrat::detail
