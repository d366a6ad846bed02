# SPDX-License-Identifier: BSD-3-Clause
# Common properties of all targets of this build, and how each source is compiled.

# Finds the sources of one part of the library, in its folders and their subfolders, by name:
#   *.cpp              once for the CPU; in a dual module also for the CUDA backend
#   *_host.cpp         once for the CPU in every module
#   *.cu               hand-written kernels, only with CUDA
#   *.cpp.in, *.cu.in  the same for each of their instances: see quadrat_instances
# Globs instead of lists, so that adding a method means adding its file; CONFIGURE_DEPENDS makes the build notice it.
# Sets ${out}_SOURCES (host), ${out}_DUAL and ${out}_CUDA in the caller.
function(quadrat_find_sources out)
  list(TRANSFORM ARGN APPEND "/*.cpp" OUTPUT_VARIABLE host)
  list(TRANSFORM ARGN APPEND "/*.cpp.in" OUTPUT_VARIABLE host_templates)
  file(GLOB_RECURSE found CONFIGURE_DEPENDS ${host} ${host_templates})
  quadrat_expanded_templates(all ${found})
  list(TRANSFORM ARGN APPEND "/*.cu" OUTPUT_VARIABLE device)
  list(TRANSFORM ARGN APPEND "/*.cu.in" OUTPUT_VARIABLE device_templates)
  file(GLOB_RECURSE found CONFIGURE_DEPENDS ${device} ${device_templates})
  quadrat_expanded_templates(kernels ${found})
  set(dual ${all})
  list(FILTER dual EXCLUDE REGEX "_host\\.cpp$")
  set(${out}_SOURCES ${all} PARENT_SCOPE)
  set(${out}_DUAL ${dual} PARENT_SCOPE)
  set(${out}_CUDA ${kernels} PARENT_SCOPE)
endfunction()

# Sets ${out} to the sources, with each template replaced by its instances in place. Batches are filled in this order: a
# batch with all instances of a module would finish last.
function(quadrat_expanded_templates out)
  set(sources "")
  foreach(source IN LISTS ARGN)
    if(source MATCHES "\\.in$")
      quadrat_instances(source "${source}")
    endif()
    list(APPEND sources ${source})
  endforeach()
  set(${out} ${sources} PARENT_SCOPE)
endfunction()

# A source that is compiled for several template arguments. Its second line lists them, as in
#   // instances: T = float double; D = 2 3
# For each combination a copy is generated with @T@ and @D@ replaced. Sets ${out} to the copies.
function(quadrat_instances out template)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${template}")
  file(STRINGS "${template}" parameters REGEX "^// instances: ")
  string(REGEX REPLACE "^// instances: " "" parameters "${parameters}")
  string(REPLACE "\\;" ";" parameters "${parameters}") # a list, separated by semicolons, which file() escapes
  file(READ "${template}" text)
  file(RELATIVE_PATH stem "${PROJECT_SOURCE_DIR}/src" "${template}")
  string(REGEX MATCH "((_host)?\\.[a-z]+)\\.in$" ending "${stem}")
  set(ending "${CMAKE_MATCH_1}")
  string(REPLACE "${ending}.in" "" stem "${PROJECT_BINARY_DIR}/instances/${stem}")
  quadrat_expand_instances(files "${stem}" "${parameters}")
  set(${out} ${files} PARENT_SCOPE)
endfunction()

# Makes the copies for all values of the parameters. Reads `text` and `ending` of the caller.
function(quadrat_expand_instances out stem parameters)
  if(parameters STREQUAL "")
    file(CONFIGURE OUTPUT "${stem}${ending}" CONTENT "${text}" @ONLY)
    set(${out} "${stem}${ending}" PARENT_SCOPE)
    return()
  endif()
  list(POP_FRONT parameters first)
  string(REGEX MATCH "([A-Za-z_]+) = (.+)" matched "${first}")
  set(name "${CMAKE_MATCH_1}")
  string(REPLACE " " ";" values "${CMAKE_MATCH_2}")
  set(all "")
  foreach(value IN LISTS values)
    set(${name} "${value}") # for file(CONFIGURE)
    quadrat_expand_instances(files "${stem}_${value}" "${parameters}")
    list(APPEND all ${files})
  endforeach()
  set(${out} ${all} PARENT_SCOPE)
endfunction()

set(quadrat_warnings -Wall -Wextra -Wpedantic -Wconversion -Wshadow)
set(quadrat_cuda_no_warnings "")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # False positives for std::string (GCC bug 105651) and std::optional (80635).
  list(APPEND quadrat_warnings -Wno-restrict -Wno-maybe-uninitialized)
  set(quadrat_cuda_no_warnings -Xcompiler=-Wno-restrict,-Wno-maybe-uninitialized)
  if(QUADRAT_UNITY)
    # GCC mistakes anonymous namespaces in batched sources for those of headers.
    list(APPEND quadrat_warnings -Wno-subobject-linkage)
  endif()
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  list(APPEND quadrat_warnings -Wno-sign-conversion) # not part of GCC's -Wconversion
endif()
# The code that nvcc generates for the host triggers the stricter warnings.
set(quadrat_cuda_warnings -Xcompiler=-Wall,-Wextra ${quadrat_cuda_no_warnings})
if(QUADRAT_WERROR)
  list(APPEND quadrat_warnings -Werror)
  list(APPEND quadrat_cuda_warnings -Werror=all-warnings -Xcompiler=-Werror)
endif()

# Everything that is linked together must be instrumented, so this is not set per target.
if(QUADRAT_SANITIZE)
  add_compile_options(
    "$<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${QUADRAT_SANITIZE};-fno-sanitize-recover=all;-fno-omit-frame-pointer>")
  add_link_options("-fsanitize=${QUADRAT_SANITIZE}")
endif()

if(QUADRAT_HAS_CUDA)
  include(CheckCompilerFlag)
  # Compression makes device code of many similar kernels ten times smaller. It is unpacked once, when it is loaded.
  set(quadrat_compression --compress-mode=size)
  if(QUADRAT_CUDA_FAST_COMPILE) # of which it would take a third
    set(quadrat_compression --compress-mode=balance)
  endif()
  check_compiler_flag(CUDA "${quadrat_compression}" QUADRAT_NVCC_COMPRESSES)
  if(NOT QUADRAT_NVCC_COMPRESSES) # before CUDA 12.8
    set(quadrat_compression -Xfatbin=-compress-all)
  endif()
  add_compile_options("$<$<COMPILE_LANGUAGE:CUDA>:${quadrat_compression}>")
endif()
if(QUADRAT_CUDA_FAST_COMPILE AND QUADRAT_HAS_CUDA)
  check_compiler_flag(CUDA "-Ofc=max" QUADRAT_NVCC_HAS_FAST_COMPILE)
  if(QUADRAT_NVCC_HAS_FAST_COMPILE)
    add_compile_options("$<$<COMPILE_LANGUAGE:CUDA>:-Ofc=max>")
  endif()
  # Host code here only launches kernels, so it needs no optimization.
  string(REPLACE "-O3" "-O0" CMAKE_CUDA_FLAGS_RELEASE "${CMAKE_CUDA_FLAGS_RELEASE}")
  # Only PTX: drivers compile it when a kernel is first used.
  list(TRANSFORM CMAKE_CUDA_ARCHITECTURES REPLACE "^[0-9]+$" "\\0-virtual")
endif()

# Flags of this build only; none of them reach users of the library.
function(quadrat_configure_target target)
  set_target_properties(
    ${target}
    PROPERTIES CXX_STANDARD 20
               CXX_STANDARD_REQUIRED ON
               CXX_EXTENSIONS OFF
               CUDA_STANDARD 20
               CUDA_STANDARD_REQUIRED ON
               CUDA_EXTENSIONS OFF)
  target_compile_options(
    ${target}
    PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${quadrat_warnings}> $<$<COMPILE_LANGUAGE:CUDA>:${quadrat_cuda_warnings}>
            # A pair expression must give the same bits in every method, however the compiler inlines it.
            $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off> $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-ffp-contract=off>)
  if(QUADRAT_NATIVE)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-march=native>)
  endif()
endfunction()

# Compiles the C++ sources of a target in batches of at most `size`, because headers take most of the time. A batch has
# sources of one folder below src, tests, ...; names in anonymous namespaces must therefore differ within a module.
# *_host.cpp have separate batches. They may name engines of the CUDA backend; if they also saw the definitions of a
# dual source, the host compiler would instantiate them, and the linker might prefer those to nvcc's.
function(quadrat_compile_in_batches target size)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${QUADRAT_UNITY} UNITY_BUILD_MODE GROUP)
  if(QUADRAT_LARGE_BATCHES)
    math(EXPR size "2 * ${size}")
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  quadrat_sort_by_module(modules ${sources})
  foreach(module IN LISTS modules)
    set(number 0)
    foreach(source IN LISTS sources_of_${module})
      math(EXPR batch "${number} / ${length_of_${module}}")
      set_source_files_properties("${source}" PROPERTIES UNITY_GROUP ${module}_${batch})
      math(EXPR number "${number} + 1")
    endforeach()
  endforeach()
endfunction()

# Sets in the caller's scope: the modules of sources (the folder below src, tests, ...), and for each module
# sources_of_<module> and length_of_<module>, a batch length that gives equal batches, not longer than the caller's
# `size`.
macro(quadrat_sort_by_module modules)
  set(${modules} "")
  foreach(source ${ARGN})
    get_filename_component(path "${source}" ABSOLUTE)
    string(REPLACE "${PROJECT_BINARY_DIR}/" "" path "${path}")
    string(REPLACE "${PROJECT_SOURCE_DIR}/" "" path "${path}")
    string(REGEX REPLACE "^[^/]+/([^/.]+).*" "\\1" module "${path}")
    if(path MATCHES "_host\\.cpp$")
      string(APPEND module "_host")
    endif()
    list(APPEND ${modules} ${module})
    list(APPEND sources_of_${module} "${source}")
  endforeach()
  list(REMOVE_DUPLICATES ${modules})
  foreach(module IN LISTS ${modules})
    list(LENGTH sources_of_${module} count)
    math(EXPR batches "(${count} + ${size} - 1) / ${size}")
    math(EXPR length_of_${module} "(${count} + ${batches} - 1) / ${batches}")
  endforeach()
endmacro()

# The same for sources that nvcc compiles. (Before 3.31, CMake's own batches are for C++ only.) Sets ${out} to the batches.
# The batches are called `name`, or after the modules if it is empty; names must be unique within a directory. Optimized
# kernels take longer than the headers that sources share: batches are short, and the longest sources alone.
function(quadrat_cuda_batches out name size)
  if(NOT QUADRAT_UNITY)
    set(${out} ${ARGN} PARENT_SCOPE)
    return()
  endif()
  set(alone "")
  if(NOT QUADRAT_CUDA_FAST_COMPILE)
    set(size 4)
    set(alone ${ARGN})
    list(FILTER alone INCLUDE REGEX "/search/list\\.cpp$|/(masks|rows|engines|interpolate/products)_[^/]+$")
    list(REMOVE_ITEM ARGN ${alone})
  endif()
  quadrat_sort_by_module(modules ${ARGN})
  set(files ${alone})
  set(number 0)
  foreach(module IN LISTS modules)
    if(name)
      set(batch "${name}")
    else()
      set(batch "${module}")
      set(number 0)
    endif()
    while(sources_of_${module})
      list(SUBLIST sources_of_${module} 0 ${length_of_${module}} members)
      list(REMOVE_ITEM sources_of_${module} ${members})
      list(TRANSFORM members REPLACE "(.+)" "#include \"\\1\"\n" OUTPUT_VARIABLE text)
      string(JOIN "" text ${text})
      set(file "${CMAKE_CURRENT_BINARY_DIR}/batches/${batch}_${number}.cu")
      file(CONFIGURE OUTPUT "${file}" CONTENT "${text}" @ONLY)
      list(APPEND files "${file}")
      math(EXPR number "${number} + 1")
    endwhile()
  endforeach()
  set(${out} ${files} PARENT_SCOPE)
endfunction()

# Gives a target the library's private headers (src/) and public ones, for code of this project outside the library.
# Links the named modules, or all.
function(quadrat_link_internal target)
  set(modules ${ARGN})
  if(NOT modules)
    set(modules quadrat)
  endif()
  list(TRANSFORM modules PREPEND "quadrat::")
  quadrat_configure_target(${target})
  target_link_libraries(${target} PRIVATE ${modules})
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/src")
endfunction()
