# SPDX-License-Identifier: BSD-3-Clause
# tests/fuzz/<name>_fuzz.cpp define LLVMFuzzerTestOneInput. Each is a separate program, with known inputs in
# tests/fuzz/corpus/<name>/ if there are any. As a test, tests/fuzz/driver.cpp runs it for some seconds on inputs made
# from a seed. With QUADRAT_FUZZ (clang), libFuzzer runs it.

if(NOT TARGET quadrat_scenes)
  return()
endif()
if(QUADRAT_FUZZ AND NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "QUADRAT_FUZZ needs clang, for its libFuzzer; the compiler is ${CMAKE_CXX_COMPILER_ID}")
endif()

file(GLOB fuzz_targets CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/fuzz/*_fuzz.cpp")
foreach(source IN LISTS fuzz_targets)
  get_filename_component(target "${source}" NAME_WE)
  string(REGEX REPLACE "_fuzz$" "" name "${target}")
  add_executable(${target} "${source}")
  quadrat_link_internal(${target})
  target_compile_definitions(${target} PRIVATE QUADRAT_BACKEND_CPU=1)
  target_include_directories(${target} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
  target_link_libraries(${target} PRIVATE quadrat_scenes ZLIB::ZLIB)
  if(QUADRAT_FUZZ)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer)
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  else()
    target_sources(${target} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/fuzz/driver.cpp")
  endif()
  # libFuzzer writes new inputs into the first folder.
  set(folders "${CMAKE_CURRENT_BINARY_DIR}/fuzz/${name}")
  file(MAKE_DIRECTORY "${folders}")
  if(IS_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpus/${name}")
    list(APPEND folders "${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpus/${name}")
  endif()
  add_test(NAME "fuzz/${name}" COMMAND ${target} -seed=1 -runs=1000000 -max_total_time=3 ${folders})
  set_tests_properties("fuzz/${name}" PROPERTIES ENVIRONMENT "${quadrat_test_environment}" LABELS fuzz)
endforeach()
