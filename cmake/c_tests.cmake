# SPDX-License-Identifier: BSD-3-Clause
# The C interface: tests/c/*_test.cpp, which know its header, and the classes in C++ to compare with. They run on each
# device of the machine. The header compiles as C99 and as old C++; what the library exports is what the header declares.

file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/c/*_test.cpp")
add_executable(quadrat_c_tests ${sources} ${quadrat_tests_main})
quadrat_compile_in_batches(quadrat_c_tests 8)
quadrat_configure_target(quadrat_c_tests)
target_include_directories(quadrat_c_tests PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
target_link_libraries(quadrat_c_tests PRIVATE quadrat::c quadrat::ewald quadrat::hydro quadrat::contacts quadrat::keyed GTest::gtest)
quadrat_discover_suites(quadrat_c_tests)

add_test(NAME headers/exports_of_c
         COMMAND "${CMAKE_COMMAND}" "-DNM=${CMAKE_NM}" "-DOBJDUMP=${CMAKE_OBJDUMP}" "-DLIBRARY=$<TARGET_FILE:quadrat_c>"
                 "-DSONAME=libquadrat_c.so.${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}"
                 "-DHEADER=${PROJECT_SOURCE_DIR}/include/quadrat/quadrat.h" -P "${quadrat_cmake}/exports_test.cmake")
set_tests_properties(headers/exports_of_c PROPERTIES LABELS headers)

# What programs in C rely on has not changed, except by additions.
add_test(NAME headers/abi_of_c COMMAND "${PROJECT_SOURCE_DIR}/script/abi")
set_tests_properties(headers/abi_of_c PROPERTIES LABELS headers SKIP_RETURN_CODE 77)

set(as_cpp -std=c++98 -x c++)
set(as_c -std=c99 -x c)
foreach(language IN ITEMS c cpp)
  add_test(NAME headers/c_interface_as_${language}
           COMMAND "${CMAKE_CXX_COMPILER}" ${as_${language}} -pedantic -Wall -Wextra -Werror -fsyntax-only
                   "${PROJECT_SOURCE_DIR}/include/quadrat/quadrat.h")
  set_tests_properties(headers/c_interface_as_${language} PROPERTIES LABELS headers)
endforeach()
