! SPDX-License-Identifier: BSD-3-Clause
! Madelung's constant of rock salt, 1.7475646: the energy of the two ions of its primitive cell.
program ewald
  use quadrat
  implicit none
  real(c_double), target :: points(3, 2), charges(2), cell(3, 3), forces(3, 2), energy
  type(c_ptr) :: context, sums
  type(quadrat_ewald_options) :: options
  type(quadrat_ewald_input) :: input
  type(quadrat_ewald_output) :: output

  points(:, 1) = 0
  points(:, 2) = [1, 0, 0]
  charges = [1, -1]
  cell(:, 1) = [0, 1, 1]
  cell(:, 2) = [1, 0, 1]
  cell(:, 3) = [1, 1, 0]
  options%size = c_sizeof(options)
  options%accuracy = 1d-8
  input%size = c_sizeof(input)
  input%points%data = c_loc(points)
  input%points%count = 2
  input%charges = c_loc(charges)
  input%cells%vectors = c_loc(cell)
  output%size = c_sizeof(output)
  output%energy = c_loc(energy)
  output%forces = c_loc(forces)

  call check(quadrat_context_create(c_null_ptr, context))
  call check(quadrat_electrostatics_create(context, options, sums))
  call check(quadrat_electrostatics_compute(sums, input, output))
  print '(a, f10.7, a, es8.1)', 'Madelung constant', -energy, ', largest force', maxval(abs(forces))
  if (abs(-energy - 1.7475646d0) > 1d-5 .or. maxval(abs(forces)) > 1d-5) error stop 1
  call quadrat_electrostatics_destroy(sums)
  call quadrat_context_destroy(context)
end program
