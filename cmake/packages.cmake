# SPDX-License-Identifier: BSD-3-Clause
# `cpack -G DEB` in a finished build makes a Debian package of what it installs. Recipes of other package managers are
# written to packaging/ in the build, with this project's version and address.
set(CPACK_PACKAGE_VENDOR "The Quadrat developers")
set(CPACK_PACKAGE_CONTACT "${CPACK_PACKAGE_VENDOR} <${PROJECT_HOMEPAGE_URL}>")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON) # what the program needs
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "cmake, g++, pkg-config, libpng-dev, zlib1g-dev")
include(CPack)

foreach(recipe IN ITEMS spack/package.py conda/recipe.yaml)
  configure_file("${PROJECT_SOURCE_DIR}/packaging/${recipe}.in" "${PROJECT_BINARY_DIR}/packaging/${recipe}" @ONLY)
endforeach()
configure_file("${PROJECT_SOURCE_DIR}/packaging/conda/variants.yaml" "${PROJECT_BINARY_DIR}/packaging/conda/variants.yaml"
               COPYONLY)
