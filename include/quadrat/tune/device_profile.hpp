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

/// What a device is called, and what it says of itself. Numbers that are not known are 0.
struct device_facts {
  bool cuda = false;
  std::string name;      ///< as the device or the operating system gives it
  std::string driver;    ///< of a GPU: the version of CUDA that its driver supports, "13.0"
  double bandwidth = 0;  ///< of memory, GB/s
  double clock = 0;      ///< GHz
  int cores = 0;         ///< multiprocessors; on a CPU the threads of the context
};

/// The constants of one device, from which the cost of every method is predicted: milliseconds for each unit of the
/// amounts that the records of the methods give. `quadrat tune` measures them. Docs: docs/concepts/choosing.md.
struct device_profile {
  device_facts device;
  std::string version;  ///< of the library that measured it
  std::string origin;   ///< where it comes from, in words
  /// By "module.method.term"; terms of what is prepared once begin with "set_".
  std::map<std::string, double, std::less<>> constants;
  /// Factors for a device that was not measured itself: of terms that move bytes, and of those that compute.
  double byte_scale = 1, step_scale = 1;
};

/// The device of a context. Does not synchronize.
[[nodiscard]] device_facts facts_of(const cpu_context& context);
[[nodiscard]] device_facts facts_of(const cuda_context& context);

/// The profile for the choices of a context. In this order: the file that QUADRAT_PROFILE names; the file that
/// `quadrat tune` wrote for this device; a profile that comes with the library, scaled by what the device reports where
/// it is of another one. A file that cannot be used (missing where it was named, damaged, of another device or version)
/// is passed over with one warning on stderr. At run_to_run and canonical only the last: there the choice must not
/// depend on measured times. Files are read once in a process. Several threads may call at once.
[[nodiscard]] const device_profile& profile_of(const cpu_context& context);
[[nodiscard]] const device_profile& profile_of(const cuda_context& context);

/// The profile that comes with the library, of the H200 (`cuda`) or of a CPU.
[[nodiscard]] const device_profile& shipped_profile(bool cuda);
/// Those of GPUs.
[[nodiscard]] std::span<const device_profile> shipped_profiles();
/// That of this device, or of the one among them whose memory is most nearly as fast.
[[nodiscard]] const device_profile& shipped_profile(const device_facts& device);

/// `profile`, carried over to another device by bandwidth, clock and cores; the same where those are not known.
[[nodiscard]] device_profile scaled_profile(const device_profile& profile, const device_facts& device);

/// Throws data_error for text that is no profile, naming what is wrong.
[[nodiscard]] device_profile profile_from_json(std::string_view text);
/// One line for each constant, in the order of names.
[[nodiscard]] std::string to_json(const device_profile& profile);

/// Where `quadrat tune` puts the profile of a device: $XDG_CACHE_HOME/quadrat, or ~/.cache/quadrat. Empty without a
/// home.
[[nodiscard]] std::filesystem::path profile_path(const device_facts& device);

}  // namespace quadrat
