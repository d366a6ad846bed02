// SPDX-License-Identifier: BSD-3-Clause
#include "output_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "quadrat/core/error.hpp"

namespace quadrat::program {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view frame_prefix = "frame_";
constexpr std::string_view frame_suffix = ".vtp";

/// The step in a name like frame_00000100.vtp.
std::optional<std::uint64_t> step_in(std::string_view name) {
  if (!name.starts_with(frame_prefix) || !name.ends_with(frame_suffix)) return std::nullopt;
  name.remove_prefix(frame_prefix.size());
  name.remove_suffix(frame_suffix.size());
  std::uint64_t step = 0;
  const auto [end, code] = std::from_chars(name.data(), name.data() + name.size(), step);
  if (code != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return step;
}

std::map<std::uint64_t, fs::path> frames_in(const fs::path& folder) {
  std::map<std::uint64_t, fs::path> frames;
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, none)) {
    if (const auto step = step_in(entry.path().filename().string())) frames.emplace(*step, entry.path());
  }
  return frames;
}

}  // namespace

output_folder::output_folder(fs::path path) : path_(std::move(path)) {
  std::error_code code;
  fs::create_directories(path_, code);
  if (code) throw io_error(message("cannot create the folder ", path_.string(), ": ", code.message()));
  if (::access(path_.c_str(), W_OK) != 0) {
    throw io_error(message("cannot write into the folder ", path_.string(), ": ", std::strerror(errno)));
  }
  lock_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  // File systems without locks say so with another code than EWOULDBLOCK, and are trusted.
  if (lock_ >= 0 && ::flock(lock_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(lock_);
    throw io_error(message("another run is writing into ", path_.string()));
  }
}

output_folder::~output_folder() {
  if (lock_ >= 0) ::close(lock_);
}

void output_folder::start_over() const {
  if (fs::exists(checkpoint())) fs::rename(checkpoint(), path_ / "checkpoint.previous.bin");
  for (const fs::path& file : {collection(), preview(), summary(), statistics()}) fs::remove(file);
  for (const std::string_view name : run_csv_names) fs::remove(table(name));
  for (const auto& [step, file] : frames_in(path_ / "frames")) fs::remove(file);
}

std::vector<io::pvd_entry> output_folder::keep_frames_up_to(std::uint64_t last, double time_step) const {
  std::vector<io::pvd_entry> kept;
  for (const auto& [step, file] : frames_in(path_ / "frames")) {
    if (step <= last) {
      kept.push_back({static_cast<double>(step) * time_step, frame_name(step)});
    } else {
      fs::remove(file);
    }
  }
  return kept;
}

fs::path output_folder::table(std::string_view name) const { return path_ / (std::string(name) + ".csv"); }

std::string output_folder::frame_name(std::uint64_t step) {
  return fmt::format("frames/{}{:08}{}", frame_prefix, step, frame_suffix);
}

}  // namespace quadrat::program
