# SPDX-License-Identifier: BSD-3-Clause
message(FATAL_ERROR "Quadrat has included a module of the project that it is a part of")
