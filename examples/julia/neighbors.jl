# SPDX-License-Identifier: BSD-3-Clause
# The neighbors of 1000 points on a simple cubic lattice, by `ccall`: each has six.
#   LD_LIBRARY_PATH=<where quadrat is installed>/lib julia examples/julia/neighbors.jl
# Types and functions are those of quadrat/quadrat.h; fields beyond `size` mean their defaults.
const library = "libquadrat_c"

struct Points
    data::Ptr{Float64}
    count::Csize_t
    stride::Csize_t
    component_stride::Csize_t
end
struct Boxes
    vectors::Ptr{Float64}
    origins::Ptr{Float64}
    periodic::Ptr{Cint}
    count::Csize_t
end
struct NeighborOptions
    size::Csize_t
    type::Cint  # 6: QUADRAT_FLOAT64
    dimension::Cint
    cutoff::Cdouble
end
struct NeighborInput
    size::Csize_t
    points::Points
    boxes::Boxes
end
struct NeighborView
    size::Csize_t
    rows::Csize_t
    entries::UInt64
    offsets::Ptr{UInt64}
    neighbors::Ptr{UInt32}
end

check(code) = code == 0 || error(unsafe_string(ccall((:quadrat_error_message, library), Cstring, ())))

side = 10
points = Float64[k == 1 ? x : k == 2 ? y : z for k in 1:3, x in 0:side-1, y in 0:side-1, z in 0:side-1]
box = Float64[i == j ? side : 0 for i in 1:3, j in 1:3]
context, list = Ref{Ptr{Cvoid}}(), Ref{Ptr{Cvoid}}()
options = Ref(NeighborOptions(sizeof(NeighborOptions), 6, 3, 1.1))
view = Ref(NeighborView(sizeof(NeighborView), 0, 0, C_NULL, C_NULL))

check(ccall((:quadrat_context_create, library), Cint, (Ptr{Cvoid}, Ptr{Ptr{Cvoid}}), C_NULL, context))
check(ccall((:quadrat_neighbor_list_create, library), Cint, (Ptr{Cvoid}, Ptr{NeighborOptions}, Ptr{Ptr{Cvoid}}),
            context[], options, list))
GC.@preserve points box begin
    input = Ref(NeighborInput(sizeof(NeighborInput), Points(pointer(points), side^3, 0, 0),
                              Boxes(pointer(box), C_NULL, C_NULL, 0)))
    check(ccall((:quadrat_neighbor_list_build, library), Cint, (Ptr{Cvoid}, Ptr{NeighborInput}), list[], input))
end
check(ccall((:quadrat_neighbor_list_view, library), Cint, (Ptr{Cvoid}, Ptr{NeighborView}), list[], view))
offsets = unsafe_wrap(Array, view[].offsets, side^3 + 1)
neighbors = unsafe_wrap(Array, view[].neighbors, view[].entries)
println(view[].entries, " pairs; point 0 has ", Int.(neighbors[1:offsets[2]]))
@assert view[].entries == 6 * side^3
ccall((:quadrat_neighbor_list_destroy, library), Cvoid, (Ptr{Cvoid},), list[])
ccall((:quadrat_context_destroy, library), Cvoid, (Ptr{Cvoid},), context[])
