// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/core/version.hpp"

namespace quadrat {

std::string_view version() noexcept { return QUADRAT_VERSION; }

}  // namespace quadrat
