# SPDX-License-Identifier: BSD-3-Clause
# find_package(quadrat) provides quadrat::quadrat and each module, such as quadrat::search; COMPONENTS names required
# modules. io and scenes read and write files and need libpng and zlib; mpi needs MPI; c is for programs without C++.
# These are provided only if they are named.
include(CMakePackageConfigHelpers)

set(quadrat_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/quadrat")

set(plain ${quadrat_modules})
list(REMOVE_ITEM plain io scenes mpi c)
list(TRANSFORM plain PREPEND quadrat_ OUTPUT_VARIABLE targets)
install(TARGETS ${targets} quadrat_models quadrat_quadrat EXPORT quadratTargets)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/quadrat" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        PATTERN "quadrat/io" EXCLUDE)
install(TARGETS quadrat_c EXPORT quadratCTargets)
install(EXPORT quadratCTargets NAMESPACE quadrat:: DESTINATION "${quadrat_package_dir}")
if(TARGET quadrat_mpi)
  install(TARGETS quadrat_mpi EXPORT quadratMpiTargets)
  install(EXPORT quadratMpiTargets NAMESPACE quadrat:: DESTINATION "${quadrat_package_dir}")
endif()
if(TARGET quadrat_io)
  install(TARGETS quadrat_io quadrat_scenes EXPORT quadratIoTargets)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/quadrat/io" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/quadrat")
  install(EXPORT quadratIoTargets NAMESPACE quadrat:: DESTINATION "${quadrat_package_dir}")
endif()
install(FILES "${PROJECT_BINARY_DIR}/include/quadrat/core/config.hpp"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/quadrat/core")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(EXPORT quadratTargets NAMESPACE quadrat:: DESTINATION "${quadrat_package_dir}")

list(JOIN quadrat_modules ", " quadrat_component_names)
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/quadratConfig.cmake.in"
                              "${PROJECT_BINARY_DIR}/quadratConfig.cmake" INSTALL_DESTINATION "${quadrat_package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/quadratConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/quadratConfig.cmake" "${PROJECT_BINARY_DIR}/quadratConfigVersion.cmake"
        DESTINATION "${quadrat_package_dir}")

# The files for pkg-config. Their paths are relative, so the installation can be moved.
set(libraries ${plain})
list(REMOVE_ITEM libraries papers)
list(REVERSE libraries) # each before the libraries that it uses
list(TRANSFORM libraries PREPEND "-lquadrat_")
if(QUADRAT_HAS_CUDA)
  list(APPEND libraries "-L${CUDAToolkit_LIBRARY_DIR}" -lcudart_static -lrt)
endif()
list(JOIN libraries " " quadrat_link_flags)
file(RELATIVE_PATH quadrat_to_prefix "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
foreach(library IN ITEMS quadrat quadrat_c)
  configure_file("${PROJECT_SOURCE_DIR}/packaging/${library}.pc.in" "${PROJECT_BINARY_DIR}/${library}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${library}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endforeach()

install(DIRECTORY "${PROJECT_SOURCE_DIR}/examples" DESTINATION "${CMAKE_INSTALL_DATADIR}/quadrat")
