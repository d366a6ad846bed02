// SPDX-License-Identifier: BSD-3-Clause
#include "program/run/output_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

#include "io/text.hpp"
#include "program/run/simulation.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/io/atomic_file.hpp"
#include "quadrat/io/rank_files.hpp"

namespace quadrat::program {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view index_title = "# The files of a run of quadrat, which touches no others in this folder";
constexpr std::string_view frame_folder = "frames";
constexpr std::string_view frame_prefix = "frames/frame_";

/// The step in a name like frames/frame_00000100.vtp.
std::optional<std::uint64_t> step_in(std::string_view name) {
  if (!name.starts_with(frame_prefix)) return std::nullopt;
  const std::string_view digits = name.substr(frame_prefix.size());
  std::uint64_t step = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), step);
  for (const io::frame_file_format format :
       {io::frame_file_format::vtp, io::frame_file_format::vtu, io::frame_file_format::xyz}) {
    for (const bool shared : {false, true}) {
      if (name == output_folder::frame_name(step, format, shared)) return step;
    }
  }
  return std::nullopt;
}

/// The entry of the index for a file: for a piece of a frame, the file that joins the pieces.
std::string listed_for(const std::string& name) {
  const fs::path path(name);
  const std::string joins = io::file_of_piece(path.filename().string());
  const std::string whole = joins.empty() ? joins : (path.parent_path() / joins).string();
  return step_in(whole) ? whole : name;
}

/// The names of all possible files of a run, except frames and the index, relative to its folder.
std::vector<std::string> fixed_names() {
  std::vector<std::string> names{"checkpoint.bin", "frames.pvd", "preview.png", "summary.json", "statistics.csv"};
  for (const std::string_view name : run_csv_names) names.push_back(std::string(name) + ".csv");
  return names;
}

bool can_be_of_a_run(std::string_view name) {
  if (step_in(name)) return true;
  const std::vector<std::string> fixed = fixed_names();
  return std::find(fixed.begin(), fixed.end(), name) != fixed.end();
}

/// The names of the files in the folder, or in its subfolder `inner`, as in the index. Empty if there is no such
/// folder.
std::vector<std::string> names_in(const fs::path& folder, const fs::path& inner) {
  std::vector<std::string> names;
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder / inner, none)) {
    names.push_back((inner / entry.path().filename()).string());
  }
  return names;
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
  // On file systems without locks, flock fails with another code than EWOULDBLOCK. Then no other run is assumed.
  if (lock_ >= 0 && ::flock(lock_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(lock_);
    throw io_error(message("another run is writing into ", path_.string()));
  }
  try {
    read_index();
  } catch (...) {
    if (lock_ >= 0) ::close(lock_);
    throw;
  }
}

output_folder::~output_folder() {
  if (lock_ >= 0) ::close(lock_);
}

fs::path output_folder::table(std::string_view name) const { return path_ / (std::string(name) + ".csv"); }

std::string output_folder::frame_name(std::uint64_t step, io::frame_file_format format, bool shared) {
  const bool pieces = shared && format != io::frame_file_format::xyz;
  return fmt::format("{}{:08}.{}{}", frame_prefix, step, pieces ? "p" : "", io::name_of(format));
}

bool output_folder::lists(const fs::path& file) const {
  return files_.contains(file.lexically_relative(path_).generic_string());
}

/// Why the run must not write this file: something else is already there. Empty if it may.
std::string output_folder::stranger_at(const std::string& name) const {
  const fs::path file = path_ / name;
  const fs::file_status status = fs::symlink_status(file);
  if (fs::is_symlink(status)) return message(file.string(), " is a symbolic link, which a run does not follow");
  if (!fs::exists(status) || files_.contains(listed_for(name))) return {};
  return message(file.string(), " is not of a run that ", index().string(),
                 " lists, and is kept: move it away, or give another folder (--output)");
}

void output_folder::require_no_others() const {
  const fs::path frames = path_ / frame_folder;
  const fs::file_status status = fs::symlink_status(frames);
  require(!fs::exists(status) || fs::is_directory(status), frames.string(),
          " is not a folder (a run does not follow symbolic links)");
  std::vector<std::string> names = fixed_names();
  for (std::string& name : names_in(path_, frame_folder)) {
    if (step_in(listed_for(name))) names.push_back(std::move(name));
  }
  for (const std::string& name : names) {
    const std::string problem = stranger_at(name);
    require(problem.empty(), problem);
  }
}

std::vector<frame_file> output_folder::frames_up_to(std::uint64_t last) const {
  std::vector<frame_file> frames;
  for (const std::string& name : files_) {
    const auto step = step_in(name);
    if (step && *step <= last && fs::exists(path_ / name)) frames.push_back({*step, name});
  }
  std::ranges::stable_sort(frames, {}, &frame_file::step);
  return frames;
}

std::uintmax_t output_folder::frame_bytes(const std::string& name) const {
  std::uintmax_t sum = 0;
  for (const std::string& one : names_in(path_, frame_folder)) {
    std::error_code none;
    const std::uintmax_t bytes = listed_for(one) == name ? fs::file_size(path_ / one, none) : 0;
    if (!none) sum += bytes;
  }
  return sum;
}

fs::path output_folder::claim(const fs::path& file) {
  const std::string name = file.lexically_relative(path_).generic_string();
  if (files_.contains(name)) return file;
  if (const std::string problem = stranger_at(name); !problem.empty()) throw io_error(problem);
  files_.insert(name);
  write_index();
  return file;
}

void output_folder::remove_run() {
  if (files_.empty()) return;
  for (const char* const name : {"checkpoint.bin", "frames.pvd"}) {
    if (files_.contains(name)) remove(name);
  }
  remove_all({files_.begin(), files_.end()});
  files_.clear();
  write_index();
}

void output_folder::remove_frames_after(std::uint64_t last) {
  const auto is_later = [&](const std::string& name) { return step_in(name).value_or(0) > last; };
  std::vector<std::string> later;
  std::ranges::copy_if(files_, std::back_inserter(later), is_later);
  remove_all(later);
  if (std::erase_if(files_, is_later) > 0) write_index();
}

void output_folder::remove_leftovers() const {
  for (const fs::path& inner : {fs::path(), fs::path(frame_folder)}) {
    for (const std::string& name : names_in(path_, inner)) {
      const std::string target(io::target_of_temporary(fs::path(name).filename().string()));
      const std::string listed = listed_for((inner / target).string());
      if (!target.empty() && (files_.contains(listed) || path_ / inner / target == index())) remove(name);
    }
  }
}

void output_folder::read_index() {
  if (!fs::exists(fs::symlink_status(index()))) return;
  const auto refuse = [&](const auto&... parts) {
    throw io_error(message(index().string(), ": ", parts..., "; move it away, or give another folder (--output)"));
  };
  if (!fs::is_regular_file(fs::symlink_status(index()))) refuse("not a file");
  const std::string text = io::read_whole_file(index());
  io::line_reader lines(text);
  if (!lines.next() || lines.line() != index_title) refuse("not the list of the files of a run");
  while (lines.next()) {
    if (!can_be_of_a_run(lines.line())) refuse("damaged: no run writes ", io::shown(lines.line()));
    files_.emplace(lines.line());
  }
}

void output_folder::write_index() const {
  std::string text(index_title);
  for (const std::string& name : files_) text += "\n" + name;
  io::write_text_file(index(), text + "\n");
}

/// Removes a file. It may be gone already.
void output_folder::remove(const std::string& name) const {
  const fs::path file = path_ / name;
  if (::unlink(file.c_str()) != 0 && errno != ENOENT) {
    throw io_error(message("cannot remove ", file.string(), ": ", std::strerror(errno)));
  }
}

/// Removes files, and for frames their pieces.
void output_folder::remove_all(const std::vector<std::string>& names) const {
  for (const std::string& name : names) remove(name);
  const std::set<std::string> gone(names.begin(), names.end());
  for (const std::string& name : names_in(path_, frame_folder)) {
    const std::string listed = listed_for(name);
    if (listed != name && gone.contains(listed)) remove(name);
  }
}

}  // namespace quadrat::program
