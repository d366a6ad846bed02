// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <tuple>

#include "core/backend.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/tune/device_profile.hpp"
#include "tune/find_profile.hpp"

#if QUADRAT_HAS_CUDA
#include "core/cuda_check.hpp"
#endif

namespace quadrat {

namespace {

/// The value of "model name" in /proc/cpuinfo.
[[nodiscard]] std::string name_of_cpu() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "CPU";
}

/// The profile of a file, or the reason why it cannot be used.
struct found_profile {
  std::optional<device_profile> profile;
  std::string trouble;
};

[[nodiscard]] std::string why_not_for(const device_profile& profile, const device_facts& device) {
  if (profile.version != QUADRAT_VERSION) {
    return message("it is of version ", profile.version, ", this is ", QUADRAT_VERSION);
  }
  if (profile.device.cuda != device.cuda || profile.device.name != device.name) {
    return message("it is of ", profile.device.name, ", this is ", device.name);
  }
  if (profile.device.driver != device.driver) {
    return message("it was measured with driver ", profile.device.driver, ", this is ", device.driver);
  }
  for (const auto& [name, value] : shipped_profile(device.cuda).constants) {
    if (!profile.constants.contains(name)) return "it lacks the constant " + name;
  }
  return {};
}

[[nodiscard]] found_profile profile_in(const std::filesystem::path& path, const device_facts& device) {
  constexpr std::uintmax_t most_bytes = 1 << 20;
  std::error_code trouble_of_file;
  const auto status = std::filesystem::status(path, trouble_of_file);
  // Reading a pipe or a device might never end.
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) return {{}, "it is no file"};
  const std::uintmax_t bytes = std::filesystem::file_size(path, trouble_of_file);
  if (!trouble_of_file && bytes > most_bytes) return {{}, message("it has ", bytes, " bytes; profiles are small")};
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) return {{}, "it cannot be read"};
  try {
    device_profile profile = profile_from_json(text.str());
    if (std::string trouble = why_not_for(profile, device); !trouble.empty()) return {{}, std::move(trouble)};
    profile.origin = path.string();
    return {std::move(profile), {}};
  } catch (const error& problem) {
    return {{}, problem.what()};
  }
}

}  // namespace

device_profile detail::find_profile(const device_facts& device) {
  const char* const named = std::getenv("QUADRAT_PROFILE");
  const std::filesystem::path own = profile_path(device);
  const bool is_named = named != nullptr && *named != 0;
  const std::filesystem::path path = is_named ? std::filesystem::path(named) : own;
  std::error_code ignored;
  if (is_named || (!path.empty() && std::filesystem::exists(path, ignored))) {
    found_profile found = profile_in(path, device);
    if (found.profile.has_value()) return *std::move(found.profile);
    std::fprintf(stderr, "quadrat: the device profile %s is not used: %s\n", path.c_str(), found.trouble.c_str());
  }
  return scaled_profile(shipped_profile(device), device);
}

namespace {

/// Keeps the profile of each device, with and without profile files.
template <typename Context>
[[nodiscard]] const device_profile& kept_profile(const Context& context, int device) {
  static std::mutex lock;
  static std::map<std::pair<int, bool>, device_profile> kept;
  const bool files = context.reproducibility() == determinism::none;
  const std::lock_guard guard(lock);
  const auto found = kept.find({device, files});
  if (found != kept.end()) return found->second;
  const device_facts facts = facts_of(context);
  return kept
      .emplace(std::pair{device, files},
               files ? detail::find_profile(facts) : scaled_profile(shipped_profile(facts), facts))
      .first->second;
}

}  // namespace

device_facts facts_of(const cpu_context& context) {
  static const std::string name = name_of_cpu();
  return {false, name, {}, 0, 0, context.threads()};
}

#if QUADRAT_HAS_CUDA
device_facts facts_of(const cuda_context& context) {
  device_facts facts;
  facts.cuda = true;
  for (const device_description& device : cuda_devices()) {
    if (device.index == context.device()) facts.name = device.name;
  }
  const auto value_of = [&](cudaDeviceAttr attribute) {
    int value = 0;
    return cudaDeviceGetAttribute(&value, attribute, context.device()) == cudaSuccess ? value : 0;
  };
  int driver = 0;
  if (cudaDriverGetVersion(&driver) == cudaSuccess) facts.driver = message(driver / 1000, ".", driver % 1000 / 10);
  facts.cores = context.multiprocessors();
  facts.clock = 1e-6 * value_of(cudaDevAttrClockRate);  // kHz
  // Two transfers per cycle.
  facts.bandwidth = 2e-6 * value_of(cudaDevAttrMemoryClockRate) * value_of(cudaDevAttrGlobalMemoryBusWidth) / 8;
  return facts;
}
#else
device_facts facts_of(const cuda_context&) { return {true, "CUDA device", {}, 0, 0, 0}; }
#endif

const device_profile& profile_of(const cpu_context& context) { return kept_profile(context, -1); }
const device_profile& profile_of(const cuda_context& context) { return kept_profile(context, context.device()); }

std::filesystem::path profile_path(const device_facts& device) {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  const char* const home = std::getenv("HOME");
  std::filesystem::path folder;
  // By the XDG specification a relative path is ignored.
  if (cache != nullptr && *cache == '/') {
    folder = cache;
  } else if (home != nullptr && *home == '/') {
    folder = std::filesystem::path(home) / ".cache";
  } else {
    return {};
  }
  std::string name = message(device.name, device.driver.empty() ? "" : "-" + device.driver, "-", QUADRAT_VERSION);
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '-') c = '_';
  }
  return folder / "quadrat" / ("profile-" + name + ".json");
}

}  // namespace quadrat
