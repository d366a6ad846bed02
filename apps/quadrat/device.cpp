// SPDX-License-Identifier: BSD-3-Clause
#include "device.hpp"

#include <fstream>

#include "quadrat/core/context.hpp"

namespace quadrat::program {

std::string cpu_name() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "CPU";
}

io::device_choice resolved(io::device_choice choice) {
  if (choice != io::device_choice::automatic) return choice;
  return cuda_devices().empty() ? io::device_choice::cpu : io::device_choice::cuda;
}

}  // namespace quadrat::program
