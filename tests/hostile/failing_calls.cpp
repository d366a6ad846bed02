// SPDX-License-Identifier: BSD-3-Clause
//
// A library for LD_PRELOAD under which one call fails: the n-th allocation, or the n-th call of one system function.
// Environment variables:
//   QUADRAT_FAIL_CALL    "memory" for any allocation, or the name of a function, such as "fsync"
//   QUADRAT_FAIL_AT      which call fails, from 1; 0: none
//   QUADRAT_FAIL_ALWAYS  with "1" all later calls fail, too
//   QUADRAT_FAIL_WITH    the value of errno; or "short": read and write transfer one byte
//   QUADRAT_FAIL_COUNTS  a file for lines "name calls", written when main returns or exit is called
// Calls count while main runs. Calls by OpenMP's runtime and the dynamic loader do not count: these end the process by
// design, with their own message.
#include <dlfcn.h>
#include <link.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string_view>

namespace {

constexpr std::array<std::string_view, 23> names{"memory", "open",      "openat",  "close",     "read",     "write",
                                                 "fsync",  "fdatasync", "rename",  "link",      "unlink",   "mkdir",
                                                 "rmdir",  "stat",      "access",  "flock",     "chmod",    "mmap",
                                                 "fcntl",  "readlink",  "opendir", "ftruncate", "getrandom"};

constexpr std::size_t number_of(std::string_view name) {
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (names[k] == name) return k;
  }
  throw "no such call";
}

struct range {
  std::uintptr_t begin, end;
};

std::array<std::atomic<std::uint64_t>, names.size()> calls{};
std::array<range, 8> uncounted{};  ///< code ranges of the OpenMP runtime and the loader
std::size_t uncounted_ranges = 0;
std::atomic<bool> counting{false};
std::size_t failing = names.size();
std::uint64_t fail_at = 0;
bool fail_always = false, fail_short = false;
int fail_with = ENOMEM;
/// Above 0 within a counted allocation, or in this library.
__thread int depth __attribute__((tls_model("initial-exec"))) = 0;

bool counts(const void* caller) {
  if (!counting.load(std::memory_order_relaxed) || depth > 0) return false;
  const auto at = reinterpret_cast<std::uintptr_t>(caller);
  for (std::size_t k = 0; k < uncounted_ranges; ++k) {
    if (at >= uncounted[k].begin && at < uncounted[k].end) return false;
  }
  return true;
}

/// Whether this call must fail; if so, sets errno.
bool fails(std::size_t call, const void* caller) {
  if (!counts(caller)) return false;
  const std::uint64_t number = ++calls[call];
  if (call != failing || fail_at == 0 || (fail_always ? number < fail_at : number != fail_at)) return false;
  if (!fail_short) errno = fail_with;
  return true;
}

template <typename Function>
Function* next(const char* symbol) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, symbol));
}

int find_uncounted(dl_phdr_info* info, std::size_t, void*) {
  const std::string_view name = info->dlpi_name;
  const bool left_out = name.find("libgomp") != name.npos || name.find("libomp") != name.npos ||
                        name.find("ld-linux") != name.npos || name.find("libasan") != name.npos ||
                        name.find("libubsan") != name.npos;
  for (int k = 0; left_out && k < info->dlpi_phnum; ++k) {
    const auto& part = info->dlpi_phdr[k];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0 || uncounted_ranges == uncounted.size()) continue;
    const std::uintptr_t begin = info->dlpi_addr + part.p_vaddr;
    uncounted[uncounted_ranges++] = {begin, begin + part.p_memsz};
  }
  return 0;
}

void write_counts() {
  counting = false;
  const char* const file = std::getenv("QUADRAT_FAIL_COUNTS");
  std::FILE* const out = file != nullptr ? std::fopen(file, "w") : nullptr;
  if (out == nullptr) return;
  for (std::size_t k = 0; k < names.size(); ++k) {
    std::fprintf(out, "%s %llu\n", names[k].data(), static_cast<unsigned long long>(calls[k].load()));
  }
  std::fclose(out);
}

void read_environment() {
  const auto text = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string_view(value != nullptr ? value : "");
  };
  const std::string_view call = text("QUADRAT_FAIL_CALL"), with = text("QUADRAT_FAIL_WITH");
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (names[k] == call) failing = k;
  }
  fail_at = std::strtoull(text("QUADRAT_FAIL_AT").data(), nullptr, 10);
  fail_always = text("QUADRAT_FAIL_ALWAYS") == "1";
  fail_short = with == "short";
  if (!with.empty() && !fail_short) fail_with = std::atoi(with.data());
  if (fail_at > 0 && failing == names.size()) {
    std::fprintf(stderr, "failing_calls: QUADRAT_FAIL_CALL names no call that can fail: %s\n", call.data());
    std::_Exit(99);
  }
}

using main_function = int(int, char**, char**);
main_function* program_main = nullptr;

int counted_main(int count, char** arguments, char** environment) {
  dl_iterate_phdr(find_uncounted, nullptr);
  read_environment();
  counting = true;
  const int code = program_main(count, arguments, environment);
  write_counts();
  return code;
}

/// Calls that a counted allocation makes into the next library do not count again.
struct counted_call {
  counted_call() { ++depth; }
  ~counted_call() { --depth; }
};

}  // namespace

// Defines system functions under different names here, because headers declare them in different ways. `counted` is the
// name under which they are counted.
#define FAILING(counted, symbol, result, failure, parameters, arguments)                      \
  result failing_##symbol parameters __asm__(#symbol) __attribute__((visibility("default"))); \
  result failing_##symbol parameters {                                                        \
    if (fails(number_of(#counted), __builtin_return_address(0))) return failure;              \
    static auto* const real = next<result parameters>(#symbol);                               \
    const counted_call inside;                                                                \
    return real arguments;                                                                    \
  }
#define FAILING_NEW(symbol, failure, parameters, arguments)                                  \
  void* failing_##symbol parameters __asm__(#symbol) __attribute__((visibility("default"))); \
  void* failing_##symbol parameters {                                                        \
    if (fails(number_of("memory"), __builtin_return_address(0))) failure;                    \
    static auto* const real = next<void * parameters>(#symbol);                              \
    const counted_call inside;                                                               \
    return real arguments;                                                                   \
  }

using bytes = std::size_t;
using text = const char*;

FAILING(memory, malloc, void*, nullptr, (bytes size), (size))
FAILING(memory, calloc, void*, nullptr, (bytes count, bytes size), (count, size))
FAILING(memory, realloc, void*, nullptr, (void* old, bytes size), (old, size))
FAILING(memory, aligned_alloc, void*, nullptr, (bytes alignment, bytes size), (alignment, size))
FAILING(memory, memalign, void*, nullptr, (bytes alignment, bytes size), (alignment, size))
FAILING(memory, posix_memalign, int, ENOMEM, (void** memory, bytes alignment, bytes size), (memory, alignment, size))
FAILING_NEW(_Znwm, throw std::bad_alloc(), (bytes size), (size))
FAILING_NEW(_Znam, throw std::bad_alloc(), (bytes size), (size))
FAILING_NEW(_ZnwmSt11align_val_t, throw std::bad_alloc(), (bytes size, bytes alignment), (size, alignment))
FAILING_NEW(_ZnamSt11align_val_t, throw std::bad_alloc(), (bytes size, bytes alignment), (size, alignment))
FAILING_NEW(_ZnwmRKSt9nothrow_t, return nullptr, (bytes size, const void* tag), (size, tag))
FAILING_NEW(_ZnamRKSt9nothrow_t, return nullptr, (bytes size, const void* tag), (size, tag))

FAILING(open, open, int, -1, (text file, int flags, unsigned mode), (file, flags, mode))
FAILING(open, open64, int, -1, (text file, int flags, unsigned mode), (file, flags, mode))
FAILING(openat, openat, int, -1, (int folder, text file, int flags, unsigned mode), (folder, file, flags, mode))
FAILING(openat, openat64, int, -1, (int folder, text file, int flags, unsigned mode), (folder, file, flags, mode))
FAILING(fsync, fsync, int, -1, (int file), (file))
FAILING(fdatasync, fdatasync, int, -1, (int file), (file))
FAILING(rename, rename, int, -1, (text from, text to), (from, to))
FAILING(rename, renameat, int, -1, (int a, text from, int b, text to), (a, from, b, to))
FAILING(link, link, int, -1, (text from, text to), (from, to))
FAILING(link, linkat, int, -1, (int a, text from, int b, text to, int flags), (a, from, b, to, flags))
FAILING(link, symlink, int, -1, (text from, text to), (from, to))
FAILING(unlink, unlink, int, -1, (text file), (file))
FAILING(unlink, unlinkat, int, -1, (int folder, text file, int flags), (folder, file, flags))
FAILING(unlink, remove, int, -1, (text file), (file))
FAILING(mkdir, mkdir, int, -1, (text folder, unsigned mode), (folder, mode))
FAILING(rmdir, rmdir, int, -1, (text folder), (folder))
FAILING(stat, stat, int, -1, (text file, void* about), (file, about))
FAILING(stat, stat64, int, -1, (text file, void* about), (file, about))
FAILING(stat, lstat, int, -1, (text file, void* about), (file, about))
FAILING(stat, lstat64, int, -1, (text file, void* about), (file, about))
FAILING(stat, fstat, int, -1, (int file, void* about), (file, about))
FAILING(stat, fstat64, int, -1, (int file, void* about), (file, about))
FAILING(stat, fstatat, int, -1, (int folder, text file, void* about, int flags), (folder, file, about, flags))
FAILING(access, access, int, -1, (text file, int mode), (file, mode))
FAILING(access, faccessat, int, -1, (int folder, text file, int mode, int flags), (folder, file, mode, flags))
FAILING(flock, flock, int, -1, (int file, int operation), (file, operation))
FAILING(ftruncate, ftruncate, int, -1, (int file, long size), (file, size))
FAILING(ftruncate, ftruncate64, int, -1, (int file, long size), (file, size))
FAILING(chmod, chmod, int, -1, (text file, unsigned mode), (file, mode))
FAILING(chmod, fchmod, int, -1, (int file, unsigned mode), (file, mode))
FAILING(readlink, readlink, long, -1, (text file, char* target, bytes size), (file, target, size))
FAILING(chmod, fchown, int, -1, (int file, unsigned user, unsigned group), (file, user, group))
FAILING(readlink, realpath, char*, nullptr, (text file, char* result), (file, result))
FAILING(opendir, opendir, void*, nullptr, (text folder), (folder))
FAILING(opendir, fdopendir, void*, nullptr, (int folder), (folder))
FAILING(getrandom, getrandom, long, -1, (void* memory, bytes size, unsigned flags), (memory, size, flags))
FAILING(fcntl, fcntl, int, -1, (int file, int command, void* argument), (file, command, argument))
FAILING(fcntl, fcntl64, int, -1, (int file, int command, void* argument), (file, command, argument))
FAILING(mmap, mmap, void*, reinterpret_cast<void*>(-1),
        (void* at, bytes size, int access, int flags, int file, long offset), (at, size, access, flags, file, offset))

// A descriptor whose close fails is closed anyway.
int failing_close(int file) __asm__("close") __attribute__((visibility("default")));
int failing_close(int file) {
  static auto* const real = next<int(int)>("close");
  const bool failing_now = fails(number_of("close"), __builtin_return_address(0));
  const int code = errno, result = real(file);
  if (failing_now) errno = code;
  return failing_now ? -1 : result;
}

// Sanitizers ask for the bounds of a thread's stack. The C library allocates for the answer, and they end the process
// without it.
int failing_pthread_getattr_np(unsigned long thread, void* attributes) __asm__("pthread_getattr_np")
    __attribute__((visibility("default")));
int failing_pthread_getattr_np(unsigned long thread, void* attributes) {
  static auto* const real = next<int(unsigned long, void*)>("pthread_getattr_np");
  const counted_call inside;
  return real(thread, attributes);
}

// Reads and writes may also be short, which is not an error.
#define FAILING_TRANSFER(symbol, memory_type)                                        \
  long failing_##symbol(int file, memory_type memory, bytes size) __asm__(#symbol)   \
      __attribute__((visibility("default")));                                        \
  long failing_##symbol(int file, memory_type memory, bytes size) {                  \
    static auto* const real = next<long(int, memory_type, bytes)>(#symbol);          \
    const bool failing_now = fails(number_of(#symbol), __builtin_return_address(0)); \
    if (failing_now && !fail_short) return -1;                                       \
    return real(file, memory, failing_now && size > 1 ? 1 : size);                   \
  }
FAILING_TRANSFER(read, void*)
FAILING_TRANSFER(write, const void*)

using main_start = int(main_function*, int, char**, void (*)(), void (*)(), void (*)(), void*);
int failing_start(main_function* main, int count, char** arguments, void (*init)(), void (*fini)(), void (*rtld_fini)(),
                  void* stack_end) __asm__("__libc_start_main") __attribute__((visibility("default")));
int failing_start(main_function* main, int count, char** arguments, void (*init)(), void (*fini)(), void (*rtld_fini)(),
                  void* stack_end) {
  program_main = main;
  return next<main_start>("__libc_start_main")(counted_main, count, arguments, init, fini, rtld_fini, stack_end);
}
