// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "harness/session.hpp"

namespace quadrat::bench {

/// Full lists in CSR of uniform random points in an open cube, by size, number of neighbors, precision and method.
void run_csr(const session& s);
/// The same for points in 64 Gaussian blobs.
void run_clustered(const session& s);
/// Points of one density in boxes much larger than they are, with a stray point, in cubes far apart, and outside the
/// box.
void run_sparse(const session& s);
/// Periodic boxes of one volume and density in several shapes: upright, tilted, turned; with points outside accepted.
void run_triclinic(const session& s);
/// Lists by radii over a ratio of 1:100, each compared with a list with one cutoff and as many pairs.
void run_cutoffs(const session& s);
/// One small periodic system.
void run_small(const session& s);
/// Thousands of small periodic systems in one call.
void run_batch(const session& s);
/// Full lists with vectors and shifts of uniform random points in a periodic cube, by size and precision.
void run_separations(const session& s);
/// The cost of half lists, sorted rows, distances, vectors and shifts, pairs and matrices compared with the plain list.
void run_outputs(const session& s);
/// Friends-of-friends and DBSCAN of uniform and clustered points, by size and number of neighbors.
void run_clusters(const session& s);
/// The nearest neighbors of all points, building included, by k, precision and distribution; compared with brute force.
void run_nearest(const session& s);
/// A step of molecular dynamics over a list with a skin: forces, and its share of the rebuilds.
void run_lj_step(const session& s);
/// Lennard-Jones forces over a neighbor list and over cluster pairs, by cutoff and precision.
void run_cluster_pairs(const session& s);
/// One frame of a radial distribution function, by number of neighbors and precision.
void run_rdf(const session& s);
void run_pairs(const session& s);

}  // namespace quadrat::bench
