# SPDX-License-Identifier: BSD-3-Clause
# Finds the backends of the library. Sets QUADRAT_HAS_CUDA, QUADRAT_HAS_CUSPARSE, QUADRAT_HAS_NCCL, QUADRAT_HAS_MPI,
# QUADRAT_HAS_ZOLTAN and QUADRAT_HAS_HDF5 (0 or 1). Only the headers of cuSPARSE and NCCL are needed: the libraries are
# loaded at run time, on first use.

find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)

set(QUADRAT_LEAST_CUDA 12.4) # of which all sources keep to what it has
set(QUADRAT_HAS_CUDA 0)
set(QUADRAT_HAS_CUSPARSE 0)
set(QUADRAT_HAS_NCCL 0)
# In another project, AUTO follows the languages of that project.
get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
set(quadrat_follows_parent OFF)
if(QUADRAT_CUDA STREQUAL "AUTO" AND NOT PROJECT_IS_TOP_LEVEL AND NOT CUDA IN_LIST languages)
  set(quadrat_follows_parent ON)
elseif(NOT QUADRAT_CUDA STREQUAL "OFF")
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
      set(CMAKE_CUDA_ARCHITECTURES 90) # local to this project if it is part of another one
      if(PROJECT_IS_TOP_LEVEL)
        set(CMAKE_CUDA_ARCHITECTURES 90 CACHE STRING "GPU architectures to compile for")
      endif()
    endif()
    enable_language(CUDA)
    if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS QUADRAT_LEAST_CUDA)
      message(FATAL_ERROR "${CMAKE_CUDA_COMPILER} is nvcc ${CMAKE_CUDA_COMPILER_VERSION}; Quadrat needs CUDA ${QUADRAT_LEAST_CUDA} or "
                          "later, and 12.8 or later for GPUs of compute capability 10.0 and 12.0. Set CMAKE_CUDA_COMPILER to "
                          "another one, or QUADRAT_CUDA to OFF")
    endif()
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
    find_path(QUADRAT_NCCL_INCLUDE nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS} "${PROJECT_SOURCE_DIR}/build/nccl/nvidia/nccl/include")
    mark_as_advanced(QUADRAT_NCCL_INCLUDE)
    if(QUADRAT_NCCL_INCLUDE)
      set(QUADRAT_HAS_NCCL 1)
    endif()
  elseif(QUADRAT_CUDA STREQUAL "ON")
    message(FATAL_ERROR "QUADRAT_CUDA is ON, but no nvcc was found: set CMAKE_CUDA_COMPILER or CUDACXX to its path")
  endif()
endif()

# MPI's C interface, used from C++ sources.
set(QUADRAT_HAS_MPI 0)
set(QUADRAT_HAS_ZOLTAN 0)
set(QUADRAT_HAS_HDF5 0)
if(QUADRAT_MPI STREQUAL "ON" OR (QUADRAT_MPI STREQUAL "AUTO" AND PROJECT_IS_TOP_LEVEL))
  set(MPI_CXX_SKIP_MPICXX ON)
  find_package(MPI QUIET COMPONENTS CXX)
  if(MPI_CXX_FOUND)
    set(QUADRAT_HAS_MPI 1)
    # Load balancing: Debian's libtrilinos-zoltan-dev.
    find_path(QUADRAT_ZOLTAN_INCLUDE zoltan.h PATH_SUFFIXES trilinos)
    find_library(QUADRAT_ZOLTAN NAMES trilinos_zoltan zoltan)
    mark_as_advanced(QUADRAT_ZOLTAN_INCLUDE QUADRAT_ZOLTAN)
    if(QUADRAT_ZOLTAN_INCLUDE AND QUADRAT_ZOLTAN)
      set(QUADRAT_HAS_ZOLTAN 1)
    endif()
    # Checkpoints of several processes: Debian's libhdf5-openmpi-dev, or any other HDF5.
    find_path(QUADRAT_HDF5_INCLUDE hdf5.h PATH_SUFFIXES hdf5/openmpi hdf5/mpich hdf5/serial)
    find_library(QUADRAT_HDF5 NAMES hdf5_openmpi hdf5_mpich hdf5_serial hdf5)
    mark_as_advanced(QUADRAT_HDF5_INCLUDE QUADRAT_HDF5)
    if(QUADRAT_HDF5_INCLUDE AND QUADRAT_HDF5)
      set(QUADRAT_HAS_HDF5 1)
    endif()
  elseif(QUADRAT_MPI STREQUAL "ON")
    message(FATAL_ERROR "QUADRAT_MPI is ON, but no MPI was found; try script/bootstrap --mpi")
  endif()
endif()
