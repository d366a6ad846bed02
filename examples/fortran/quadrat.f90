! SPDX-License-Identifier: BSD-3-Clause
! Neighbor lists and Ewald sums from Fortran: types and functions of quadrat/quadrat.h, whose comments say what each
! takes and gives. Copy this file into your program, and add what else you need in the same way.
!
! An array (N, 3) of C is `points(3, n)`: the coordinates of point i are points(:, i). Vector k of a box or cell is
! cell(:, k). Indices of points that the library gives or takes count from 0. Give each `size` field c_sizeof(...) of
! its variable. You may leave out trailing fields of a type; the last one kept must fill its 8 bytes.
module quadrat
  use, intrinsic :: iso_c_binding
  implicit none

  integer(c_int), parameter :: quadrat_float32 = 5, quadrat_float64 = 6
  ! quadrat_neighbor_output, to be added up
  integer(c_int), parameter :: quadrat_neighbor_shifts = 8, quadrat_neighbor_squared_distances = 16, &
    quadrat_neighbor_vectors = 32

  type, bind(c) :: quadrat_points
    type(c_ptr) :: data = c_null_ptr
    integer(c_size_t) :: count = 0, stride = 0, component_stride = 0
  end type

  type, bind(c) :: quadrat_boxes
    type(c_ptr) :: vectors = c_null_ptr, origins = c_null_ptr, periodic = c_null_ptr
    integer(c_size_t) :: count = 0
  end type

  type, bind(c) :: quadrat_neighbor_options
    integer(c_size_t) :: size = 0
    integer(c_int) :: type = quadrat_float64, dimension = 3
    real(c_double) :: cutoff = 0, skin = 0
    integer(c_int) :: outputs = 0, half = 0, sorted = 0, rule = 0, accept_outside = 0, autotune = 0
  end type

  type, bind(c) :: quadrat_neighbor_input
    integer(c_size_t) :: size = 0
    type(quadrat_points) :: points
    type(quadrat_boxes) :: boxes
  end type

  type, bind(c) :: quadrat_neighbor_view
    integer(c_size_t) :: size = 0, rows = 0
    integer(c_int64_t) :: entries = 0
    type(c_ptr) :: offsets = c_null_ptr, neighbors = c_null_ptr, first = c_null_ptr, shifts = c_null_ptr
    type(c_ptr) :: squared_distances = c_null_ptr, vectors = c_null_ptr
  end type

  type, bind(c) :: quadrat_ewald_options
    integer(c_size_t) :: size = 0
    integer(c_int) :: type = quadrat_float64, law = 0
    type(c_ptr) :: method = c_null_ptr
    real(c_double) :: accuracy = 0, coulomb_constant = 0, cutoff = 0, splitting = 0
    integer(c_int) :: mesh(3) = 0, order = 0, parts = 0, remove_net_force = 0
  end type

  type, bind(c) :: quadrat_ewald_input
    integer(c_size_t) :: size = 0
    type(quadrat_points) :: points
    type(c_ptr) :: charges = c_null_ptr
    type(quadrat_boxes) :: cells
  end type

  type, bind(c) :: quadrat_ewald_output
    integer(c_size_t) :: size = 0
    type(c_ptr) :: forces = c_null_ptr, potentials = c_null_ptr, energies = c_null_ptr, energy = c_null_ptr
    type(c_ptr) :: virial = c_null_ptr
  end type

  interface
    integer(c_int) function quadrat_context_create(options, context) bind(c)
      import
      type(c_ptr), value :: options ! c_null_ptr: the CPU with all threads
      type(c_ptr) :: context
    end function
    subroutine quadrat_context_destroy(context) bind(c)
      import
      type(c_ptr), value :: context
    end subroutine
    type(c_ptr) function quadrat_error_message() bind(c)
      import
    end function

    integer(c_int) function quadrat_neighbor_list_create(context, options, list) bind(c)
      import
      type(c_ptr), value :: context
      type(quadrat_neighbor_options) :: options
      type(c_ptr) :: list
    end function
    integer(c_int) function quadrat_neighbor_list_build(list, input) bind(c)
      import
      type(c_ptr), value :: list
      type(quadrat_neighbor_input) :: input
    end function
    integer(c_int) function quadrat_neighbor_list_update(list, input, rebuilt) bind(c)
      import
      type(c_ptr), value :: list
      type(quadrat_neighbor_input) :: input
      integer(c_int) :: rebuilt
    end function
    integer(c_int) function quadrat_neighbor_list_view(list, view) bind(c)
      import
      type(c_ptr), value :: list
      type(quadrat_neighbor_view) :: view
    end function
    subroutine quadrat_neighbor_list_destroy(list) bind(c)
      import
      type(c_ptr), value :: list
    end subroutine

    integer(c_int) function quadrat_electrostatics_create(context, options, sums) bind(c)
      import
      type(c_ptr), value :: context
      type(quadrat_ewald_options) :: options
      type(c_ptr) :: sums
    end function
    integer(c_int) function quadrat_electrostatics_compute(sums, input, output) bind(c)
      import
      type(c_ptr), value :: sums
      type(quadrat_ewald_input) :: input
      type(quadrat_ewald_output) :: output
    end function
    subroutine quadrat_electrostatics_destroy(sums) bind(c)
      import
      type(c_ptr), value :: sums
    end subroutine
  end interface

contains

  ! Stops with the message of the library unless the code is 0.
  subroutine check(code)
    integer(c_int), intent(in) :: code
    character(kind=c_char), pointer :: text(:)
    integer :: length
    if (code == 0) return
    call c_f_pointer(quadrat_error_message(), text, [2048])
    length = findloc(text, c_null_char, dim=1) - 1
    print *, text(:length)
    error stop 1
  end subroutine

end module
