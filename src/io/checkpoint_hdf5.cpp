// SPDX-License-Identifier: BSD-3-Clause
#include "io/checkpoint_hdf5.hpp"

#include "quadrat/core/error.hpp"

#if QUADRAT_HAS_HDF5
#include <hdf5.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>
#endif

namespace quadrat::io {

#if QUADRAT_HAS_HDF5

namespace {

/// Locks HDF5, which serves one thread at a time, and silences it. Files that could not be closed are left to the
/// system.
class hdf5_call {
 public:
  explicit hdf5_call(std::string failure) : failure_(std::move(failure)), lock_(mutex) {
    static const bool prepared = H5dont_atexit() >= 0 && H5open() >= 0;
    if (!prepared) throw io_error(failure_ + ": HDF5 does not start");
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    errno = 0;
  }

  /// Returns the result. Throws if it is negative.
  template <typename R>
  R operator()(R result) const {
    if (result < 0) throw io_error(message(failure_, ": ", errno != 0 ? std::strerror(errno) : "HDF5 refuses it"));
    return result;
  }
  [[nodiscard]] io_error failed(const std::string& words) const { return io_error(message(failure_, ": ", words)); }

 private:
  inline static std::mutex mutex;

  std::string failure_;
  std::lock_guard<std::mutex> lock_;
};

/// Closes an HDF5 object at the end of its scope.
class handle {
 public:
  handle(hid_t id, herr_t (*end)(hid_t)) : id_(id), end_(end) {}
  ~handle() {
    if (id_ >= 0) end_(id_);
  }
  handle(const handle&) = delete;
  handle& operator=(const handle&) = delete;

  operator hid_t() const { return id_; }
  herr_t close() { return end_(std::exchange(id_, -1)); }

 private:
  hid_t id_;
  herr_t (*end_)(hid_t);
};

/// A sparse file in memory: only the parts that are written take memory.
class memory_file {
 public:
  memory_file(const hdf5_call& call, std::uint64_t most)
      : call_(call), descriptor_(::memfd_create("hdf5", MFD_CLOEXEC)) {
    call_(descriptor_);
    if (::ftruncate(descriptor_, static_cast<::off_t>(most)) == 0) return;
    const io_error problem = call_.failed(std::strerror(errno));
    ::close(descriptor_);  // no destructor runs
    throw problem;
  }
  ~memory_file() { ::close(descriptor_); }
  memory_file(const memory_file&) = delete;
  memory_file& operator=(const memory_file&) = delete;

  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }
  [[nodiscard]] std::uint64_t size() const {
    return static_cast<std::uint64_t>(call_(::lseek(descriptor_, 0, SEEK_END)));
  }
  [[nodiscard]] std::string bytes(std::uint64_t offset, std::uint64_t count) const {
    std::string result(static_cast<std::size_t>(count), '\0');
    const auto got = call_(::pread(descriptor_, result.data(), result.size(), static_cast<::off_t>(offset)));
    if (static_cast<std::size_t>(got) != result.size()) throw call_.failed("HDF5 has written less than it said");
    return result;
  }

 private:
  const hdf5_call& call_;
  int descriptor_;
};

/// An upper bound on the length of an HDF5 file with these arrays.
[[nodiscard]] std::uint64_t most_bytes(std::uint64_t front, std::span<const array_place> arrays) {
  constexpr std::uint64_t of_file = 16384, of_array = 2048;
  std::uint64_t sum = front + of_file;
  for (const array_place& one : arrays) sum += of_array + one.bytes;
  return sum;
}

[[nodiscard]] hid_t type_in_file(element_type type) {
  switch (type) {
    case element_type::float32:
      return H5T_IEEE_F32LE;
    case element_type::float64:
      return H5T_IEEE_F64LE;
    case element_type::uint32:
      return H5T_STD_U32LE;
    case element_type::uint64:
      return H5T_STD_U64LE;
    case element_type::uint8:
      return H5T_STD_U8LE;
  }
  return H5I_INVALID_HID;
}

void add_attribute(const hdf5_call& call, hid_t file, const char* name, std::uint64_t value) {
  const handle space(call(H5Screate(H5S_SCALAR)), H5Sclose);
  const handle attribute(call(H5Acreate2(file, name, H5T_STD_U64LE, space, H5P_DEFAULT, H5P_DEFAULT)), H5Aclose);
  call(H5Awrite(attribute, H5T_NATIVE_UINT64, &value));
}

/// Adds a dataset whose space in the file is allocated at once and not filled.
void add_dataset(const hdf5_call& call, hid_t file, array_place& place) {
  const std::uint64_t row = place.array.components * size_of(place.array.type);
  if (row == 0 || place.bytes % row != 0) throw call.failed(message("array ", place.array.name, " has no whole rows"));
  const hsize_t dims[] = {place.bytes / row, place.array.components};
  const handle space(call(H5Screate_simple(place.array.components == 1 ? 1 : 2, dims, nullptr)), H5Sclose);
  const handle how(call(H5Pcreate(H5P_DATASET_CREATE)), H5Pclose);
  call(H5Pset_layout(how, H5D_CONTIGUOUS));
  call(H5Pset_alloc_time(how, H5D_ALLOC_TIME_EARLY));
  call(H5Pset_fill_time(how, H5D_FILL_TIME_NEVER));
  const handle dataset(call(H5Dcreate2(file, place.array.name.c_str(), type_in_file(place.array.type), space,
                                       H5P_DEFAULT, how, H5P_DEFAULT)),
                       H5Dclose);
  if (place.bytes == 0) return;
  place.offset = H5Dget_offset(dataset);
  if (place.offset == HADDR_UNDEF) throw call.failed("HDF5 allocates no space for an array");
}

[[nodiscard]] array_place dataset_in(const hdf5_call& call, hid_t file, hsize_t index) {
  const auto name_into = [&](char* name, std::size_t room) {
    return static_cast<std::size_t>(
        call(H5Lget_name_by_idx(file, ".", H5_INDEX_NAME, H5_ITER_INC, index, name, room, H5P_DEFAULT)));
  };
  array_place place;
  place.array.name.resize(name_into(nullptr, 0));
  name_into(place.array.name.data(), place.array.name.size() + 1);
  const handle dataset(call(H5Dopen2(file, place.array.name.c_str(), H5P_DEFAULT)), H5Dclose);
  const handle type(call(H5Dget_type(dataset)), H5Tclose);
  bool known = false;
  for (auto one = element_type::float32; !known && one <= element_type::uint8;
       one = static_cast<element_type>(static_cast<std::uint32_t>(one) + 1)) {
    known = H5Tequal(type, type_in_file(one)) > 0;
    place.array.type = one;
  }
  const handle space(call(H5Dget_space(dataset)), H5Sclose);
  hsize_t dims[2] = {0, 1};
  const int rank = call(H5Sget_simple_extent_ndims(space));
  if (!known || rank < 1 || rank > 2) throw call.failed(message("array ", place.array.name, " is of an unknown type"));
  call(H5Sget_simple_extent_dims(space, dims, nullptr));
  place.array.components = dims[1];
  place.bytes = dims[0] * dims[1] * size_of(place.array.type);
  if (place.bytes == 0) return place;
  place.offset = H5Dget_offset(dataset);
  if (place.offset == HADDR_UNDEF) throw call.failed(message("array ", place.array.name, " is not in one piece"));
  return place;
}

}  // namespace

bool hdf5_is_there() { return true; }

checkpoint_frame make_hdf5(const std::string& name, std::uint64_t front, const checkpoint& state,
                           std::span<array_place> arrays) {
  const hdf5_call call("cannot write " + name);
  const memory_file file(call, most_bytes(front, arrays));
  const handle how(call(H5Pcreate(H5P_FILE_CREATE)), H5Pclose);
  call(H5Pset_userblock(how, front));
  const handle access(call(H5Pcreate(H5P_FILE_ACCESS)), H5Pclose);
  call(H5Pset_fapl_stdio(access));  // the default driver asks for a path in a folder
  handle made(call(H5Fcreate(file.path().c_str(), H5F_ACC_TRUNC, how, access)), H5Fclose);
  add_attribute(call, made, "step", state.step);
  add_attribute(call, made, "particles", state.particles);
  add_attribute(call, made, "precision_bytes", state.precision_bytes);
  for (array_place& one : arrays) add_dataset(call, made, one);
  call(made.close());
  std::vector<array_place> in_order(arrays.begin(), arrays.end());
  std::erase_if(in_order, [](const array_place& one) { return one.bytes == 0; });
  std::ranges::sort(in_order, {}, &array_place::offset);
  checkpoint_frame frame{{}, file.size()};
  in_order.push_back({{}, 0, frame.end});
  std::uint64_t at = front;
  for (const array_place& one : in_order) {
    frame.pieces.push_back({at, file.bytes(at, one.offset - at)});
    at = one.offset + one.bytes;
  }
  return frame;
}

std::vector<array_place> arrays_in_hdf5(const std::string& file, std::span<const std::byte> bytes) {
  const hdf5_call call("cannot read " + file);
  const handle how(call(H5Pcreate(H5P_FILE_ACCESS)), H5Pclose);
  std::string name = file;
  if (!bytes.empty()) {
    name += "/bytes";  // this path cannot exist, so HDF5 takes the bytes instead
    call(H5Pset_fapl_core(how, 1 << 16, false));
    call(H5Pset_file_image(how, const_cast<std::byte*>(bytes.data()), bytes.size()));
  }
  const handle opened(call(H5Fopen(name.c_str(), H5F_ACC_RDONLY, how)), H5Fclose);
  H5G_info_t group;
  call(H5Gget_info(opened, &group));
  std::vector<array_place> result;
  for (hsize_t k = 0; k < group.nlinks; ++k) result.push_back(dataset_in(call, opened, k));
  return result;
}

#else

bool hdf5_is_there() { return false; }

checkpoint_frame make_hdf5(const std::string& name, std::uint64_t /*front*/, const checkpoint& /*state*/,
                           std::span<array_place> /*arrays*/) {
  throw io_error(message("cannot write ", name, " as HDF5: this build has none"));
}

std::vector<array_place> arrays_in_hdf5(const std::string& file, std::span<const std::byte> /*bytes*/) {
  throw io_error(message("cannot read ", file, ": it is an HDF5 file, and this build has no HDF5"));
}

#endif

}  // namespace quadrat::io
