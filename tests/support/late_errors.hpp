// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

#include "quadrat/core/error.hpp"
#include "support/backend.hpp"
#include "support/errors.hpp"

namespace quadrat::test {

/// The error of an asynchronous call with bad data: on CPUs the call throws it, on GPUs `check` of the object does.
template <typename Checked, typename Call>
[[nodiscard]] std::string late_error(Checked& object, const Call& call) {
  return error_of<data_error>([&] {
    call();
    EXPECT_FALSE((std::is_same_v<backend_context, cpu_context>)) << "the call has to throw";
    object.check();
  });
}

}  // namespace quadrat::test
