# SPDX-License-Identifier: BSD-3-Clause
# Finds the backends of the library. Sets QUADRAT_HAS_CUDA and QUADRAT_HAS_CUSPARSE (0 or 1). Only the header of
# cuSPARSE is needed here: the library is loaded at run time, on first use.

find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)

set(QUADRAT_HAS_CUDA 0)
set(QUADRAT_HAS_CUSPARSE 0)
if(NOT QUADRAT_CUDA STREQUAL "OFF")
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
      set(CMAKE_CUDA_ARCHITECTURES 90) # local to this project when it is part of another
      if(PROJECT_IS_TOP_LEVEL)
        set(CMAKE_CUDA_ARCHITECTURES 90 CACHE STRING "GPU architectures to compile for")
      endif()
    endif()
    enable_language(CUDA)
    if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION) # CMake 3.25 does not know nvcc's C++20
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
      list(APPEND CMAKE_CUDA_COMPILE_FEATURES cuda_std_20)
    endif()
    find_package(CUDAToolkit REQUIRED)
    set(QUADRAT_HAS_CUDA 1)
    find_path(QUADRAT_CUSPARSE_INCLUDE cusparse.h HINTS ${CUDAToolkit_INCLUDE_DIRS} NO_DEFAULT_PATH)
    mark_as_advanced(QUADRAT_CUSPARSE_INCLUDE)
    if(QUADRAT_CUSPARSE_INCLUDE)
      set(QUADRAT_HAS_CUSPARSE 1)
    endif()
  elseif(QUADRAT_CUDA STREQUAL "ON")
    message(FATAL_ERROR "QUADRAT_CUDA is ON, but no nvcc was found: set CMAKE_CUDA_COMPILER or CUDACXX to its path")
  endif()
endif()
