! SPDX-License-Identifier: BSD-3-Clause
! The neighbors of 1000 points on a simple cubic lattice: each has six. The types and functions are those of
! quadrat/quadrat.h; a program declares those that it uses.
module quadrat
  use, intrinsic :: iso_c_binding
  implicit none

  integer(c_int), parameter :: quadrat_float64 = 6

  type, bind(c) :: quadrat_points
    type(c_ptr) :: data = c_null_ptr
    integer(c_size_t) :: count = 0, stride = 0, component_stride = 0
  end type

  type, bind(c) :: quadrat_boxes
    type(c_ptr) :: vectors = c_null_ptr, origins = c_null_ptr, periodic = c_null_ptr
    integer(c_size_t) :: count = 0
  end type

  ! Fields behind these mean their defaults: `size` says where the type ends. It must not end with a gap.
  type, bind(c) :: quadrat_neighbor_options
    integer(c_size_t) :: size = 0
    integer(c_int) :: type = quadrat_float64, dimension = 3
    real(c_double) :: cutoff = 0, skin = 0
    integer(c_int) :: outputs = 0, half = 0, sorted = 0, rule = 0
  end type

  type, bind(c) :: quadrat_neighbor_input
    integer(c_size_t) :: size = 0
    type(quadrat_points) :: points
    type(quadrat_boxes) :: boxes
  end type

  type, bind(c) :: quadrat_neighbor_view
    integer(c_size_t) :: size = 0, rows = 0
    integer(c_int64_t) :: entries = 0
    type(c_ptr) :: offsets = c_null_ptr, neighbors = c_null_ptr
  end type

  interface
    integer(c_int) function quadrat_context_create(options, context) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: options
      type(c_ptr) :: context
    end function
    subroutine quadrat_context_destroy(context) bind(c)
      import :: c_ptr
      type(c_ptr), value :: context
    end subroutine
    integer(c_int) function quadrat_neighbor_list_create(context, options, list) bind(c)
      import :: c_int, c_ptr, quadrat_neighbor_options
      type(c_ptr), value :: context
      type(quadrat_neighbor_options) :: options
      type(c_ptr) :: list
    end function
    integer(c_int) function quadrat_neighbor_list_build(list, input) bind(c)
      import :: c_int, c_ptr, quadrat_neighbor_input
      type(c_ptr), value :: list
      type(quadrat_neighbor_input) :: input
    end function
    integer(c_int) function quadrat_neighbor_list_view(list, view) bind(c)
      import :: c_int, c_ptr, quadrat_neighbor_view
      type(c_ptr), value :: list
      type(quadrat_neighbor_view) :: view
    end function
    subroutine quadrat_neighbor_list_destroy(list) bind(c)
      import :: c_ptr
      type(c_ptr), value :: list
    end subroutine
    type(c_ptr) function quadrat_error_message() bind(c)
      import :: c_ptr
    end function
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

program neighbors
  use quadrat
  implicit none
  integer, parameter :: side = 10, count = side**3
  real(c_double), target :: points(3, count), box(3, 3)
  type(c_ptr) :: context, list
  type(quadrat_neighbor_options) :: options
  type(quadrat_neighbor_input) :: input
  type(quadrat_neighbor_view) :: view
  integer(c_int64_t), pointer :: offsets(:)
  integer(c_int32_t), pointer :: others(:)
  integer :: i

  do i = 0, count - 1
    points(:, i + 1) = [mod(i, side), mod(i / side, side), i / side**2]
  end do
  box = 0
  do i = 1, 3
    box(i, i) = side
  end do
  options%size = c_sizeof(options)
  options%cutoff = 1.1d0
  options%sorted = 1
  input%size = c_sizeof(input)
  input%points%data = c_loc(points)
  input%points%count = count
  input%boxes%vectors = c_loc(box)
  view%size = c_sizeof(view)

  call check(quadrat_context_create(c_null_ptr, context))
  call check(quadrat_neighbor_list_create(context, options, list))
  call check(quadrat_neighbor_list_build(list, input))
  call check(quadrat_neighbor_list_view(list, view))
  call c_f_pointer(view%offsets, offsets, [count + 1])
  call c_f_pointer(view%neighbors, others, [int(view%entries)])
  print '(i0, a, *(1x, i0))', view%entries, ' pairs; point 0 has', others(:offsets(2))
  if (view%entries /= 6 * count) error stop 1
  call quadrat_neighbor_list_destroy(list)
  call quadrat_context_destroy(context)
end program
