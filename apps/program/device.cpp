// SPDX-License-Identifier: BSD-3-Clause
#include "program/device.hpp"

#include <string>
#include <string_view>

#include "io/text.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::program {

std::string cpu_name() {
  try {
    const std::string text = io::read_whole_file("/proc/cpuinfo");
    for (io::line_reader in(text); in.next();) {
      const auto colon = in.line().find(": ");
      if (in.line().starts_with("model name") && colon != std::string_view::npos) {
        return std::string(in.line().substr(colon + 2));
      }
    }
  } catch (const io_error&) {
    // The name is only informative, so errors are ignored.
  }
  return "CPU";
}

io::device_choice resolved(io::device_choice choice) {
  if (choice != io::device_choice::automatic) return choice;
  return cuda_devices().empty() ? io::device_choice::cpu : io::device_choice::cuda;
}

}  // namespace quadrat::program
