// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace quadrat::io {

/// Throws scene_error at the first character beyond ASCII outside of strings and comments. TOML allows such characters
/// only there, and toml++ 3.3 has undefined behavior at most of them where it expects white space. `name`: the file,
/// for the message.
void require_ascii_outside_strings(std::string_view text, const std::string& name);

}  // namespace quadrat::io
