# SPDX-License-Identifier: BSD-3-Clause
# tests/hostile/failing_calls.cpp: a library for LD_PRELOAD that makes one call of the program fail, for
# tests/program/failing_*_test.py. It needs glibc. It must not be built with a sanitizer, whose own library is loaded
# after it.

set(quadrat_hostile_environment "")
if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux" OR QUADRAT_SANITIZE MATCHES "thread")
  return()
endif()
add_library(quadrat_failing_calls MODULE "${CMAKE_CURRENT_SOURCE_DIR}/hostile/failing_calls.cpp")
target_compile_features(quadrat_failing_calls PRIVATE cxx_std_20)
target_link_libraries(quadrat_failing_calls PRIVATE ${CMAKE_DL_LIBS})
set_target_properties(quadrat_failing_calls PROPERTIES CXX_VISIBILITY_PRESET hidden)
if(QUADRAT_SANITIZE)
  target_compile_options(quadrat_failing_calls PRIVATE -fno-sanitize=all)
  target_link_options(quadrat_failing_calls PRIVATE -fno-sanitize=all)
endif()
set(quadrat_hostile_environment "QUADRAT_FAILING_CALLS=$<TARGET_FILE:quadrat_failing_calls>")
if(QUADRAT_SANITIZE MATCHES "address")
  list(APPEND quadrat_hostile_environment "ASAN_OPTIONS=verify_asan_link_order=0")
endif()
