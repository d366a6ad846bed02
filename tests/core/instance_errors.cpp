// SPDX-License-Identifier: BSD-3-Clause
// The compiler rejects types for which the library is not instantiated, with a line that says what would be accepted.
// Each value of WRONG is compiled once (cmake/header_tests.cmake), and must not compile.
#include <quadrat/quadrat.hpp>

namespace quadrat::test {

const cpu_context context;
const auto unit_box = make_box<float, 3>({0, 0, 0}, {1, 1, 1}, {});

#if WRONG == 1  // four dimensions
const auto wrong = make_box<float, 4>({0, 0, 0, 0}, {1, 1, 1, 1}, {});
#elif WRONG == 2  // a line has no cluster pairs
auto wrong = make_cluster_pair_list(context, make_box<float, 1>({0}, {1}, {}), {.cutoff = 0.1f});
#elif WRONG == 3  // whole numbers as coordinates
const auto wrong = make_box<int, 3>({0, 0, 0}, {1, 1, 1}, {});
#elif WRONG == 4
contact_detector<cpu_context, long double> wrong(context, {});
#elif WRONG == 5  // no context
auto wrong = make_key_reducer(unit_box, 10);
#elif WRONG == 6
auto wrong = make_spread_plan(3, unit_box, {8, 8, 8}, 4);
#else
auto right = make_cells(context, unit_box, 0.1f);
#endif

}  // namespace quadrat::test
