// SPDX-License-Identifier: BSD-3-Clause
// A call of a deprecated name compiles, with a warning that says what to use instead (cmake/header_tests.cmake).
#include <quadrat/core/version.hpp>

namespace quadrat::test {

QUADRAT_DEPRECATED("0.2", "quadrat::test::after") int before();

int call() { return before(); }

}  // namespace quadrat::test
