# SPDX-License-Identifier: BSD-3-Clause
# The headers of XLA's foreign function interface, which come with jaxlib, for the handlers in python/bindings/jax_ffi.cpp.

execute_process(
  COMMAND "${CMAKE_COMMAND}" -E env "PYTHONPATH=${PROJECT_SOURCE_DIR}/build/python:$ENV{PYTHONPATH}"
          "${Python_EXECUTABLE}" -c "import jaxlib, os; print(os.path.join(os.path.dirname(jaxlib.__file__), 'include'))"
  OUTPUT_VARIABLE jax_headers
  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(jax_headers AND EXISTS "${jax_headers}/xla/ffi/api/ffi.h")
  target_include_directories(quadrat_python SYSTEM PRIVATE "${jax_headers}")
  # GCC rejects members that have the name of a type, and these headers have many.
  set_source_files_properties(
    "${CMAKE_CURRENT_SOURCE_DIR}/bindings/jax_ffi.cpp" PROPERTIES COMPILE_DEFINITIONS QUADRAT_JAX_FFI=1 COMPILE_OPTIONS
                                                                  "$<$<CXX_COMPILER_ID:GNU>:-fpermissive>")
else()
  message(STATUS "Python: without JAX's foreign functions (missing: jaxlib with its headers)")
endif()
