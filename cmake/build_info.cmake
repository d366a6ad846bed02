# SPDX-License-Identifier: BSD-3-Clause
# Generates <quadrat_build_info.hpp>, which is private: the commit and the compilers of this build, for `quadrat info`
# and the meta data of benchmarks. Each build reads the commit, but the header changes only if the commit does.

set(quadrat_compiler "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
set(quadrat_cuda_compiler "")
if(QUADRAT_HAS_CUDA)
  set(quadrat_cuda_compiler "nvcc ${CMAKE_CUDA_COMPILER_VERSION}")
endif()

add_custom_target(
  quadrat_build_info_header
  COMMAND
    "${CMAKE_COMMAND}" "-DSOURCE_DIR=${PROJECT_SOURCE_DIR}"
    "-DTEMPLATE=${PROJECT_SOURCE_DIR}/cmake/quadrat_build_info.hpp.in"
    "-DOUTPUT=${PROJECT_BINARY_DIR}/generated/quadrat_build_info.hpp" "-DBUILD_TYPE=${CMAKE_BUILD_TYPE}"
    "-DCOMPILER=${quadrat_compiler}" "-DCUDA_COMPILER=${quadrat_cuda_compiler}" -P
    "${PROJECT_SOURCE_DIR}/cmake/write_build_info.cmake"
  BYPRODUCTS "${PROJECT_BINARY_DIR}/generated/quadrat_build_info.hpp"
  COMMENT "Looking up the commit"
  VERBATIM)

add_library(quadrat_build_info INTERFACE)
target_include_directories(quadrat_build_info INTERFACE "${PROJECT_BINARY_DIR}/generated")
add_dependencies(quadrat_build_info quadrat_build_info_header)
