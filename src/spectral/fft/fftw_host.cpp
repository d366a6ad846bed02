// SPDX-License-Identifier: BSD-3-Clause
#include "spectral/fft/fftw.hpp"

#include <dlfcn.h>

#include <cerrno>
#include <initializer_list>
#include <new>
#include <optional>
#include <string>
#include <type_traits>

namespace quadrat::detail {

namespace {

/// The first of these libraries that can be loaded; it stays loaded. Throws bad_alloc if there is no memory to load
/// one: with another library, results would have other bits.
void* loaded(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    errno = 0;
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
    if (errno == ENOMEM) throw std::bad_alloc();
  }
  return nullptr;
}

template <typename Function>
bool find(void* library, Function& function, const std::string& name) {
  function = reinterpret_cast<Function>(dlsym(library, name.c_str()));
  return function != nullptr;
}

/// Its functions, if it has all of them.
template <typename T>
std::optional<fftw_functions<T>> functions_of(void* library) {
  if (library == nullptr) return std::nullopt;
  const std::string prefix = std::is_same_v<T, float> ? "fftwf_" : "fftw_";
  fftw_functions<T> functions{};
  const bool complete = find(library, functions.many, prefix + "plan_many_dft") &&
                        find(library, functions.many_from_real, prefix + "plan_many_dft_r2c") &&
                        find(library, functions.many_to_real, prefix + "plan_many_dft_c2r") &&
                        find(library, functions.execute, prefix + "execute_dft") &&
                        find(library, functions.execute_from_real, prefix + "execute_dft_r2c") &&
                        find(library, functions.execute_to_real, prefix + "execute_dft_c2r") &&
                        find(library, functions.destroy, prefix + "destroy_plan");
  if (!complete) return std::nullopt;
  find(library, functions.set_local_threads, "MKL_Set_Num_Threads_Local");
  return functions;
}

template <typename T>
const fftw_functions<T>* pointer_to(const std::optional<fftw_functions<T>>& functions) {
  return functions ? &*functions : nullptr;
}

}  // namespace

template <typename T>
const fftw_functions<T>* fftw_library() {
  static const auto functions =
      functions_of<T>(loaded({std::is_same_v<T, float> ? "libfftw3f.so.3" : "libfftw3.so.3"}));
  return pointer_to(functions);
}

template <typename T>
const fftw_functions<T>* mkl_library() {
  static const auto functions =
      functions_of<T>(loaded({"libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so.1", "libmkl_rt.so"}));
  return pointer_to(functions);
}

template const fftw_functions<float>* fftw_library();
template const fftw_functions<double>* fftw_library();
template const fftw_functions<float>* mkl_library();
template const fftw_functions<double>* mkl_library();

}  // namespace quadrat::detail
