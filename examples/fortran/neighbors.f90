! SPDX-License-Identifier: BSD-3-Clause
! The neighbors of 1000 points on a simple cubic lattice: each has six.
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
