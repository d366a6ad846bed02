// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "quadrat/core/context.hpp"

namespace quadrat {

/// The name of a device, and what it reports about itself. Unknown numbers are 0.
struct device_facts {
  bool cuda = false;
  std::string name;      ///< as the device or the operating system reports it
  std::string driver;    ///< of a GPU: the highest version of CUDA that its driver supports, "13.0"
  double bandwidth = 0;  ///< of memory, GB/s
  double clock = 0;      ///< GHz
  int cores = 0;         ///< multiprocessors; on a CPU the threads of the context
};

/// The constants of one device. They predict the cost of every method: milliseconds per unit of the amounts that the
/// methods' descriptors give. `quadrat tune` measures them. Docs: docs/concepts/choosing.md.
struct device_profile {
  device_facts device;
  std::string version;  ///< of the library that measured it
  std::string origin;   ///< source of the profile, in words
  /// By "module.method.term". Terms of preparation, done once, begin with "set_".
  std::map<std::string, double, std::less<>> constants;
  /// Factors for a device that was not measured itself: for terms that move bytes, and for terms that compute.
  double byte_scale = 1, step_scale = 1;
};

/// Describes the device of a context. Does not wait.
[[nodiscard]] device_facts facts_of(const cpu_context& context);
[[nodiscard]] device_facts facts_of(const cuda_context& context);

/// The profile by which methods are chosen for a context. The first of these that exists: the file that QUADRAT_PROFILE
/// names; the file that `quadrat tune` wrote for this device; a profile that comes with the library. The last one is
/// scaled by the reported facts if it is of another device. A file that cannot be used (missing although named,
/// damaged, of another device or version) is skipped with one warning on stderr. At run_to_run and canonical only the
/// shipped profile is used, since the choice must not depend on measured times. Files are read once per process.
/// Thread-safe.
[[nodiscard]] const device_profile& profile_of(const cpu_context& context);
[[nodiscard]] const device_profile& profile_of(const cuda_context& context);

/// The shipped profile of the H200 (`cuda`) or of a CPU.
[[nodiscard]] const device_profile& shipped_profile(bool cuda);
/// The shipped profiles of GPUs.
[[nodiscard]] std::span<const device_profile> shipped_profiles();
/// The shipped profile of this device, or of the device with the nearest memory bandwidth.
[[nodiscard]] const device_profile& shipped_profile(const device_facts& device);

/// The profile scaled to another device by bandwidth, clock and cores; unchanged where those are not known.
[[nodiscard]] device_profile scaled_profile(const device_profile& profile, const device_facts& device);

/// Throws data_error that names what is wrong if the text is not a profile.
[[nodiscard]] device_profile profile_from_json(std::string_view text);
/// One line per constant, sorted by name.
[[nodiscard]] std::string to_json(const device_profile& profile);

/// The file for the profile of a device: in $XDG_CACHE_HOME/quadrat, or ~/.cache/quadrat. Empty without a home.
[[nodiscard]] std::filesystem::path profile_path(const device_facts& device);

}  // namespace quadrat
