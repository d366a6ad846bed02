/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * The C interface of Quadrat: library libquadrat_c, CMake target quadrat::c. C99 and C++; for C++ programs
 * quadrat/quadrat.hpp has more.
 *
 * Rules for every function, unless its comment says otherwise:
 *
 * Errors. Functions return QUADRAT_OK or another code of quadrat_status. After an error, quadrat_error_message() says
 * what is wrong, and results are unusable. No function throws or ends the process.
 *
 * Structs. `size` is sizeof of the caller's struct. Fields up to the comment "optional" are required. Other fields have
 * their default if they are 0 or beyond the caller's size, so a program keeps working with a later library that has
 * more fields. Fields that an older library does not know must be 0. Write `quadrat_x_options options = {0};
 * options.size = sizeof options;`. Structs without a size never change. A null pointer to an optional struct means the
 * defaults. Write -0.0 for a 0 where the default of a number is not 0.
 *
 * Memory. Arrays by point, body, key or mesh point are in the memory of the context's device, and must not change until
 * a call that reads them is done. Boxes, tables, planes and options are on the host, and the call copies them.
 * Arrays are C-ordered, the last index fastest. Numbers have the handle's type; indices count from 0.
 *
 * Handles. A `_create` function writes the handle, or null after an error. A handle keeps its context alive, so the
 * context may be destroyed first. Views point into memory of the handle, and are valid until the next call that changes
 * it. Two threads must not use one handle, or handles on one context, at the same time. `_destroy` accepts null.
 *
 * Waiting. A call waits until its results are ready, reports errors in its data, and may allocate. A call with `_async`
 * has the same arguments but does not wait and allocates nothing: an earlier plain call with the same sizes makes the
 * room. It can be captured in a CUDA graph. `_check` waits and reports errors in its data. On CPUs, calls are finished
 * on return.
 *
 * Determinism. It follows the context's level. The C++ header of each class describes the levels and their cost.
 */
#ifndef QUADRAT_QUADRAT_H
#define QUADRAT_QUADRAT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(modernize-use-using): C has none. */

enum quadrat_status {
  QUADRAT_OK = 0,
  QUADRAT_ARGUMENT_ERROR = 1, /**< an invalid argument that is visible to the host */
  QUADRAT_DATA_ERROR = 2,     /**< an invalid value in an array; quadrat_error_number() is its index */
  QUADRAT_OVERFLOW_ERROR = 3, /**< a fixed capacity is too small; quadrat_error_number() is the required one */
  QUADRAT_BACKEND_ERROR = 4,  /**< no such device in this build or machine, or its runtime reported a failure */
  QUADRAT_MEMORY_ERROR = 5,   /**< there is not enough memory */
  QUADRAT_INTERNAL_ERROR = 6
};

enum quadrat_type {
  QUADRAT_INT32 = 1,
  QUADRAT_INT64 = 2,
  QUADRAT_UINT32 = 3,
  QUADRAT_UINT64 = 4,
  QUADRAT_FLOAT32 = 5,
  QUADRAT_FLOAT64 = 6
};

/** The version of the library, as "0.1.0". */
const char* quadrat_version(void);
/** The message of this thread's last failed call; empty if none has failed. Valid until another call fails. */
const char* quadrat_error_message(void);
/** See quadrat_status; -1 if the last error has no number. */
int64_t quadrat_error_number(void);

/* Contexts: where and how work runs. ------------------------------------------------------------------------------ */

enum quadrat_device { QUADRAT_CPU = 0, QUADRAT_CUDA = 1 };
enum quadrat_determinism { QUADRAT_ANY_ORDER = 0, QUADRAT_RUN_TO_RUN = 1, QUADRAT_CANONICAL = 2 };

typedef struct quadrat_context quadrat_context;

typedef struct quadrat_context_options {
  size_t size;
  int device; /**< quadrat_device */
  /* optional */
  int threads;     /**< of the CPU; 0: OpenMP's default */
  int determinism; /**< quadrat_determinism */
  int cuda_device; /**< its number */
  void* stream;    /**< the caller's cudaStream_t, which must outlive all work on it; null: a new one */
  /** The caller's allocator; null: the library's pool of the device. Memory must be aligned to 64 bytes. It is used
   * only on the stream; `deallocate` is called after all work that uses the memory is enqueued there. If `allocate`
   * returns null, the call ends with QUADRAT_MEMORY_ERROR. Threads of the library may also call both functions, which
   * must outlive the context and its handles. */
  void* (*allocate)(void* user, size_t bytes, void* stream);
  void (*deallocate)(void* user, void* memory, size_t bytes, void* stream);
  void* user; /**< for all of these */
  size_t (*available)(
      void* user); /**< about how many bytes are left, to choose methods and for messages; null: not known */
} quadrat_context_options;

/** CUDA devices of this machine; 0 in a build without CUDA. */
int quadrat_cuda_device_count(int* count);
/** `options`: null for the CPU with all threads. No call changes the thread's current CUDA device.
 */
int quadrat_context_create(const quadrat_context_options* options, quadrat_context** context);
void quadrat_context_destroy(quadrat_context* context);
/** The cudaStream_t on which work runs; null on CPUs. */
int quadrat_context_stream(quadrat_context* context, void** stream);
/** Waits for all work of the stream. */
int quadrat_context_synchronize(quadrat_context* context);
/** Makes later work wait for the work already in this stream of the device. Does not wait itself. */
int quadrat_context_wait_for(quadrat_context* context, void* stream);
/** Work that this stream of the device is given from now on waits for what the context has been given so far. Does not
 * wait itself. With quadrat_context_wait_for before, the calls between become part of a graph that the stream captures.
 */
int quadrat_context_signal(quadrat_context* context, void* stream);
/** Whether a CUDA graph captures what this stream is given. */
int quadrat_stream_is_captured(quadrat_context* context, void* stream, int* captured);
/** Memory of the context's device, by its runtime, to be freed with quadrat_free, of any context of the device. */
int quadrat_allocate(quadrat_context* context, size_t bytes, void** memory);
/** Null is accepted. Waits for work that may use it. */
int quadrat_free(quadrat_context* context, void* memory);
/** Between memory of the host and of the context's device, in any direction. Waits. */
int quadrat_copy(quadrat_context* context, const void* from, void* to, size_t bytes);

/* Arguments of many calls. ---------------------------------------------------------------------------------------- */

/** Component a of point i is element i * stride + a * component_stride. */
typedef struct quadrat_points {
  const void* data; /**< of the handle's type; may be null without points */
  size_t count;
  size_t stride;           /**< in elements; 0: the dimension, packed rows */
  size_t component_stride; /**< 0: 1. The number of points with a stride of 1: an array for each component */
} quadrat_points;

/** Integers from 0, packed, one per point. A struct of zeros means none. */
typedef struct quadrat_integers {
  const void* data;
  size_t count;
  int type; /**< QUADRAT_INT32, QUADRAT_INT64 or QUADRAT_UINT32 */
} quadrat_integers;

/** The largest of these integers, or QUADRAT_UINT64; -1 without any. Those of 2^63 and more count as 2^63 - 1. */
int quadrat_largest(quadrat_context* context, const quadrat_integers* integers, int64_t* largest);

/** A parallelepiped for each system, on the host. */
typedef struct quadrat_boxes {
  const double* vectors; /**< (count, D, D): rows are vectors. A zero vector: an open axis without end */
  const double* origins; /**< (count, D); null: zeros */
  const int* periodic;   /**< (count, D), whether each vector is; null: all are */
  size_t count;          /**< of systems; 0: 1 */
} quadrat_boxes;

/** An axis-aligned box; uses as many entries as there are dimensions. */
typedef struct quadrat_domain {
  double lower[3];
  double length[3];
  int periodic[3];
} quadrat_domain;

/** The choices and the memory of a handle. Texts are valid until its next call. */
typedef struct quadrat_info {
  size_t size;
  /* optional */
  const char* method; /**< of the last call; empty before, and if there is only one method */
  const char* reason; /**< why it was chosen */
  size_t bytes;       /**< of the device's memory */
} quadrat_info;

/* Neighbor lists: all (i, j, S) with |x[j] + S . vectors - x[i]| below a cutoff. ----------------------------------- */

enum quadrat_cutoff_rule {
  QUADRAT_UNIFORM = 0,
  QUADRAT_SUM_OF_RADII = 1,
  QUADRAT_LARGER_RADIUS = 2,
  QUADRAT_OWN_RADIUS = 3,    /**< of i; for full lists */
  QUADRAT_TABLE_OF_TYPES = 4 /**< type_cutoffs */
};

/** Arrays of a list, to be combined. E entries in rows, one row by point or query. */
enum quadrat_neighbor_output {
  QUADRAT_NEIGHBOR_OFFSETS = 1, /**< (rows + 1): where rows begin. Always there */
  QUADRAT_NEIGHBOR_INDICES = 2, /**< (E): j. Always there */
  QUADRAT_NEIGHBOR_FIRST = 4,   /**< (E): i */
  QUADRAT_NEIGHBOR_SHIFTS = 8,  /**< (E, D): S */
  QUADRAT_NEIGHBOR_SQUARED_DISTANCES = 16,
  QUADRAT_NEIGHBOR_VECTORS = 32,  /**< (E, D): from i to the image of j */
  QUADRAT_NEIGHBOR_DISTANCES = 64 /**< (E): only for quadrat_neighbor_list_write; implies the squared ones */
};

typedef struct quadrat_neighbor_list quadrat_neighbor_list;

typedef struct quadrat_neighbor_options {
  size_t size;
  int type; /**< QUADRAT_FLOAT32 or QUADRAT_FLOAT64 */
  int dimension;
  double cutoff; /**< upper bound on the distance of a pair, for every rule */
  /* optional */
  double skin;                /**< for quadrat_neighbor_list_update: added to every cutoff */
  int outputs;                /**< quadrat_neighbor_output */
  int half;                   /**< each pair once, i < j */
  int sorted;                 /**< rows in the order of (j, S): the same bits with every method */
  int rule;                   /**< quadrat_cutoff_rule */
  int accept_outside;         /**< points may be anywhere along open axes */
  int autotune;               /**< the first builds time the methods that may be fastest */
  const double* type_cutoffs; /**< (types, types), symmetric, on the host; 0: never a pair */
  size_t types;
  const char* method; /**< null, "" or "auto": chosen */
} quadrat_neighbor_options;

typedef struct quadrat_neighbor_input {
  size_t size;
  quadrat_points points;
  quadrat_boxes boxes;
  /* optional */
  quadrat_integers system_of_point;
  const quadrat_points* queries; /**< places whose neighbors are listed, instead of the points themselves */
  quadrat_integers system_of_query;
  const void* radii;            /**< by point, for rules with radii; at most the cutoff, or half of it for sums */
  const void* radii_of_queries; /**< by query */
  quadrat_integers types;       /**< by point, for the table of types */
  quadrat_integers types_of_queries;
  const uint32_t* excluded; /**< (P, 2) on the host: pairs of points that are never listed */
  size_t excluded_count;    /**< P */
} quadrat_neighbor_input;

/** Arrays that were not requested are null. */
typedef struct quadrat_neighbor_view {
  size_t size;
  /* optional */
  size_t rows;
  uint64_t entries;
  const uint64_t* offsets;
  const uint32_t* neighbors;
  const uint32_t* first;
  const int32_t* shifts;
  const void* squared_distances;
  const void* vectors;
} quadrat_neighbor_view;

int quadrat_neighbor_list_create(quadrat_context* context, const quadrat_neighbor_options* options,
                                 quadrat_neighbor_list** neighbors);
void quadrat_neighbor_list_destroy(quadrat_neighbor_list* neighbors);
/** Lists the neighbors of this input. Data errors: a point that is not finite, or outside the box along an open axis;
 * an invalid system, radius or type. Memory errors name the number of pairs. */
int quadrat_neighbor_list_build(quadrat_neighbor_list* neighbors, const quadrat_neighbor_input* input);
/** For as many points, in the same boxes, with room for as many pairs as builds have found or were reserved. Accepts no
 * exclusions and no integers other than QUADRAT_UINT32, because these need memory. */
int quadrat_neighbor_list_build_async(quadrat_neighbor_list* neighbors, const quadrat_neighbor_input* input);
/** Builds only if some point has moved by more than half of the skin since the last build, or other input has changed;
 * `rebuilt` (may be null) says whether. Otherwise pairs stay, and their distances are recomputed. */
int quadrat_neighbor_list_update(quadrat_neighbor_list* neighbors, const quadrat_neighbor_input* input, int* rebuilt);
/** Makes room for this many pairs, if there is less; then there is no list until the next build. */
int quadrat_neighbor_list_reserve(quadrat_neighbor_list* neighbors, size_t pairs);
int quadrat_neighbor_list_check(quadrat_neighbor_list* neighbors);
/** The list. Waits after quadrat_neighbor_list_build_async. */
int quadrat_neighbor_list_view(quadrat_neighbor_list* neighbors, quadrat_neighbor_view* view);
/** Writes one array of the list to memory of the device: offsets, indices and shifts as `index_type` (QUADRAT_INT32 or
 * QUADRAT_INT64), others with the handle's type. Argument error for an array that was not requested. */
int quadrat_neighbor_list_write(quadrat_neighbor_list* neighbors, int output, int index_type, void* to);
int quadrat_neighbor_list_write_async(quadrat_neighbor_list* neighbors, int output, int index_type, void* to);
/** Writes an array by entry with `capacity` entries, at least those that the list has room for. Entries beyond the
 * pairs have i = the number of rows, j = that of points, the cutoff as distance, and 0. If there is too little room for
 * the pairs, which quadrat_neighbor_list_check reports, these are all entries. A graph can capture `_async` together
 * with quadrat_neighbor_list_build_async. */
int quadrat_neighbor_list_write_padded(quadrat_neighbor_list* neighbors, int output, int index_type, size_t capacity,
                                       void* to);
int quadrat_neighbor_list_write_padded_async(quadrat_neighbor_list* neighbors, int output, int index_type,
                                             size_t capacity, void* to);
int quadrat_neighbor_list_info(quadrat_neighbor_list* neighbors, quadrat_info* info);

/* The k nearest neighbors of points and of queries. ---------------------------------------------------------------- */

enum quadrat_nearest_output {
  QUADRAT_NEAREST_INDICES = 1,           /**< (rows, k); -1 (in views UINT32_MAX) at the end of a row with fewer */
  QUADRAT_NEAREST_SQUARED_DISTANCES = 2, /**< (rows, k), ascending; infinite there */
  QUADRAT_NEAREST_DISTANCES = 3,
  QUADRAT_NEAREST_SHIFTS = 4 /**< (rows, k, D); only with the option */
};

typedef struct quadrat_nearest_neighbors quadrat_nearest_neighbors;

typedef struct quadrat_nearest_options {
  size_t size;
  int type;
  int dimension;
  size_t k; /**< 1 to 64 */
  /* optional */
  double cutoff;    /**< only neighbors nearer than this; 0: all */
  int include_self; /**< a point is its own neighbor */
  int shifts;
  int systems;  /**< points belong to systems, with a box each. Implied by several boxes. `_async` needs a cutoff */
  int reserved; /**< 0 */
} quadrat_nearest_options;

typedef struct quadrat_nearest_view {
  size_t size;
  /* optional */
  size_t rows;
  size_t k;
  const uint32_t* neighbors;
  const void* squared_distances;
  const int32_t* shifts;
} quadrat_nearest_view;

/** Points may lie anywhere along open axes. */
int quadrat_nearest_neighbors_create(quadrat_context* context, const quadrat_boxes* boxes,
                                     const quadrat_nearest_options* options, quadrat_nearest_neighbors** nearest);
void quadrat_nearest_neighbors_destroy(quadrat_nearest_neighbors* nearest);
/** Sets the points among which neighbors are found; they are copied. `system_of_point`: null for one system; `_async`
 * accepts only QUADRAT_UINT32. */
int quadrat_nearest_neighbors_build(quadrat_nearest_neighbors* nearest, const quadrat_points* points,
                                    const quadrat_integers* system_of_point);
int quadrat_nearest_neighbors_build_async(quadrat_nearest_neighbors* nearest, const quadrat_points* points,
                                          const quadrat_integers* system_of_point);
/** Finds the neighbors of these queries, each in its system; null: of the points. */
int quadrat_nearest_neighbors_search(quadrat_nearest_neighbors* nearest, const quadrat_points* queries,
                                     const quadrat_integers* system_of_query);
int quadrat_nearest_neighbors_search_async(quadrat_nearest_neighbors* nearest, const quadrat_points* queries,
                                           const quadrat_integers* system_of_query);
int quadrat_nearest_neighbors_check(quadrat_nearest_neighbors* nearest);
int quadrat_nearest_neighbors_view(quadrat_nearest_neighbors* nearest, quadrat_nearest_view* view);
/** As quadrat_neighbor_list_write. */
int quadrat_nearest_neighbors_write(quadrat_nearest_neighbors* nearest, int output, int index_type, void* to);
int quadrat_nearest_neighbors_write_async(quadrat_nearest_neighbors* nearest, int output, int index_type, void* to);
int quadrat_nearest_neighbors_info(quadrat_nearest_neighbors* nearest, quadrat_info* info);

/* Clusters: friends of friends, and DBSCAN where min_points is above 1. -------------------------------------------- */

enum quadrat_cluster_output {
  QUADRAT_CLUSTER_LABELS = 1,  /**< by point, from 0; -1: in no cluster */
  QUADRAT_CLUSTER_SIZES = 2,   /**< by cluster */
  QUADRAT_CLUSTER_OFFSETS = 3, /**< (clusters + 1): where the members of each begin */
  QUADRAT_CLUSTER_MEMBERS = 4, /**< indices of points, cluster by cluster */
  QUADRAT_CLUSTER_CENTERS = 5, /**< (clusters, D): mean positions, images of a cluster in one piece */
  QUADRAT_CLUSTER_ROWS = 6     /**< by point: the place of its cluster in the catalog; -1: in none of them */
};

typedef struct quadrat_cluster_finder quadrat_cluster_finder;

typedef struct quadrat_cluster_options {
  size_t size;
  int type;
  int dimension;
  double cutoff; /**< points nearer than this are linked */
  /* optional */
  uint32_t min_points; /**< within the cutoff of a core point, itself included; 0: 1 */
  int accept_outside;
} quadrat_cluster_options;

typedef struct quadrat_cluster_view {
  size_t size;
  /* optional */
  size_t points;
  size_t clusters;
  const int32_t* labels;
  const uint32_t* sizes;
} quadrat_cluster_view;

typedef struct quadrat_cluster_members {
  size_t size;
  /* optional */
  size_t clusters;
  size_t members; /**< of all clusters */
  const uint32_t* offsets;
  const uint32_t* points;
  const void* centers;
} quadrat_cluster_members;

typedef struct quadrat_catalog_options {
  size_t size;
  /* optional */
  uint32_t least_size;       /**< smaller clusters are left out */
  int by_size;               /**< the largest first, equal ones by label; 0: by label */
  quadrat_points velocities; /**< one for each point; without any, those of clusters are 0 */
  const void* potentials;    /**< by point: the central point of a cluster is that of the least one */
  const void* densities; /**< instead: the central point is that of the largest one. Without both: the one nearest to
                            the center */
} quadrat_catalog_options;

/** In the memory of the device, until the finder's next quadrat_cluster_finder_find or _catalog. A group is a struct of
 * int32_t label; uint32_t points, central point; and, of the finder's type, center[D], mean velocity[D] and, about the
 * center, the tensor of inertia[D][D] of points of mass 1. */
typedef struct quadrat_cluster_catalog {
  size_t size;
  /* optional */
  size_t count;
  size_t group_bytes; /**< from one group to the next */
  const void* groups;
  size_t points;
  const int32_t* rows; /**< QUADRAT_CLUSTER_ROWS */
} quadrat_cluster_catalog;

int quadrat_cluster_finder_create(quadrat_context* context, const quadrat_boxes* boxes,
                                  const quadrat_cluster_options* options, quadrat_cluster_finder** clusters);
void quadrat_cluster_finder_destroy(quadrat_cluster_finder* clusters);
/** `system_of_point`: null for one system. Points of different systems are not linked. */
int quadrat_cluster_finder_find(quadrat_cluster_finder* clusters, const quadrat_points* points,
                                const quadrat_integers* system_of_point);
/** For as many points, and at most as many clusters, as there is room for, and systems as QUADRAT_UINT32. */
int quadrat_cluster_finder_find_async(quadrat_cluster_finder* clusters, const quadrat_points* points,
                                      const quadrat_integers* system_of_point);
/** Makes room for this many clusters, after quadrat_cluster_finder_find. */
int quadrat_cluster_finder_reserve(quadrat_cluster_finder* clusters, size_t count);
int quadrat_cluster_finder_check(quadrat_cluster_finder* clusters);
int quadrat_cluster_finder_view(quadrat_cluster_finder* clusters, quadrat_cluster_view* view);
/** Sorts the members, once after each quadrat_cluster_finder_find. Waits; may allocate. */
int quadrat_cluster_finder_members(quadrat_cluster_finder* clusters, quadrat_cluster_members* view);
/** Makes a catalog. `options`: null for all clusters by label. Waits; may allocate. */
int quadrat_cluster_finder_catalog(quadrat_cluster_finder* clusters, const quadrat_catalog_options* options,
                                   quadrat_cluster_catalog* catalog);
/** As quadrat_neighbor_list_write. Rows are those of the last catalog. Members and centers, and `_async` of them, after
 * quadrat_cluster_finder_members. */
int quadrat_cluster_finder_write(quadrat_cluster_finder* clusters, int output, int index_type, void* to);
int quadrat_cluster_finder_write_async(quadrat_cluster_finder* clusters, int output, int index_type, void* to);
int quadrat_cluster_finder_info(quadrat_cluster_finder* clusters, quadrat_info* info);

/* Distances of pairs, and radial distribution functions, over frames. ---------------------------------------------- */

typedef struct quadrat_pair_histogram quadrat_pair_histogram;

typedef struct quadrat_histogram_options {
  size_t size;
  int type;
  int dimension;
  double cutoff;
  /* optional */
  uint32_t bins;  /**< of one width, from 0 to the cutoff; 0: 200 */
  uint32_t types; /**< of points; each pair of types has a histogram; 0: 1 */
  int accept_outside;
  int distinct; /**< expects N (N - 1) pairs of one type instead of N^2 */
} quadrat_histogram_options;

/** On the host. Bin k of the types a <= b: element (a types - a (a + 1) / 2 + b) bins + k. */
typedef struct quadrat_histogram_view {
  size_t size;
  /* optional */
  size_t frames;
  size_t bins;
  size_t pairs_of_types;
  double width; /**< of a bin */
  const uint64_t* counts;
  const double* rdf; /**< relative to independent, uniform points */
} quadrat_histogram_view;

int quadrat_pair_histogram_create(quadrat_context* context, const quadrat_histogram_options* options,
                                  quadrat_pair_histogram** histogram);
void quadrat_pair_histogram_destroy(quadrat_pair_histogram* histogram);
/** Counts a frame, or one for each system, with a box each. `boxes`: null for an open one that just holds the points
 * of a single system. `system_of_point`: null for one system. `types` by point: null for all 0. With an error no frame
 * is counted. */
int quadrat_pair_histogram_add(quadrat_pair_histogram* histogram, const quadrat_points* points,
                               const quadrat_boxes* boxes, const quadrat_integers* system_of_point,
                               const quadrat_integers* types);
int quadrat_pair_histogram_view(quadrat_pair_histogram* histogram, quadrat_histogram_view* view);
/** Discards all frames. */
int quadrat_pair_histogram_clear(quadrat_pair_histogram* histogram);
int quadrat_pair_histogram_info(quadrat_pair_histogram* histogram, quadrat_info* info);

/* Numbers of pairs in bins of separation. ----------------------------------------------------------------------------
 */

/** What bins divide. The line of sight is the third axis. */
enum quadrat_pair_coordinates {
  QUADRAT_PAIR_R = 0,     /**< the distance */
  QUADRAT_PAIR_RP_PI = 1, /**< the distance across the line of sight, and along it */
  QUADRAT_PAIR_S_MU = 2,  /**< the distance, and the part of it along the line of sight */
  QUADRAT_PAIR_THETA = 3  /**< the angle in degrees between unit vectors */
};

typedef struct quadrat_pair_counts quadrat_pair_counts;

typedef struct quadrat_pair_counts_options {
  size_t size;
  int type;
  int coordinates;     /**< quadrat_pair_coordinates */
  const double* edges; /**< of r, r_p, s or theta: increasing, from 0 */
  size_t edge_count;
  /* optional */
  const double* second_edges; /**< of pi or mu */
  size_t second_edge_count;
  int mean_separation; /**< whether means of r, r_p, s or theta are computed */
  int accept_outside;
  size_t regions; /**< for jackknife errors, numbered from 0; 0: none */
} quadrat_pair_counts_options;

/** On the host: [bin of edges][bin of second edges]. Null: not computed. */
typedef struct quadrat_pair_counts_view {
  size_t size;
  /* optional */
  size_t bins; /**< of both coordinates together */
  const uint64_t* counts;
  const double* weights; /**< sums of products of weights */
  const double* mean_separations;
  const uint64_t* region_counts; /**< [region][bin]: pairs with one point or both in the region */
  const double* region_weights;
} quadrat_pair_counts_view;

/** Points have 3 dimensions. `box`: null for theta. */
int quadrat_pair_counts_create(quadrat_context* context, const quadrat_boxes* box,
                               const quadrat_pair_counts_options* options, quadrat_pair_counts** counts);
void quadrat_pair_counts_destroy(quadrat_pair_counts* counts);
/** Ordered pairs of points, and each point with itself at distance 0. `weights`, of the handle's type: null for none.
 * `regions`: one per point if options have regions; else null. */
int quadrat_pair_counts_count(quadrat_pair_counts* counts, const quadrat_points* points, const void* weights,
                              const quadrat_integers* regions);
/** Pairs of each point with each of the others. */
int quadrat_pair_counts_count_between(quadrat_pair_counts* counts, const quadrat_points* points,
                                      const quadrat_points* others, const void* weights, const void* other_weights,
                                      const quadrat_integers* regions, const quadrat_integers* other_regions);
/** Of the last call that counted. */
int quadrat_pair_counts_result(quadrat_pair_counts* counts, quadrat_pair_counts_view* view);
int quadrat_pair_counts_info(quadrat_pair_counts* counts, quadrat_info* info);

/* Contacts of bodies. ---------------------------------------------------------------------------------------------- */

enum quadrat_shape { QUADRAT_SPHERE = 0, QUADRAT_ELLIPSOID = 1, QUADRAT_CAPSULE = 2, QUADRAT_BOX = 3 };

/** Body a has the smaller id, or index; planes are b, as 2^31 + their number. The normal points from a to b, and
 * point_a - point_b = depth * normal. b is the image at center_b + shift * length. `feature` tells contacts of one pair
 * apart. */
typedef struct quadrat_contact_float32 {
  float point_a[3], point_b[3], normal[3], tangent_1[3], tangent_2[3], depth;
  uint32_t a, b;
  int32_t shift[3];
  uint32_t feature;
} quadrat_contact_float32;

typedef struct quadrat_contact_float64 {
  double point_a[3], point_b[3], normal[3], tangent_1[3], tangent_2[3], depth;
  uint32_t a, b;
  int32_t shift[3];
  uint32_t feature;
} quadrat_contact_float64;

enum quadrat_contact_output {
  QUADRAT_CONTACT_A = 1,
  QUADRAT_CONTACT_B = 2,
  QUADRAT_CONTACT_FEATURE = 3,
  QUADRAT_CONTACT_DEPTH = 4,
  QUADRAT_CONTACT_NORMAL = 5, /**< (contacts, 3), as the following */
  QUADRAT_CONTACT_POINT_A = 6,
  QUADRAT_CONTACT_POINT_B = 7,
  QUADRAT_CONTACT_SHIFT = 8
};

typedef struct quadrat_contact_detector quadrat_contact_detector;

typedef struct quadrat_contact_options {
  size_t size;
  int type;
  /* optional */
  int sorted;                   /**< by the ids of a and b, then by feature */
  const quadrat_domain* domain; /**< null: open, around all bodies */
  const char* method;
  double bin_size;       /**< 0: auto */
  const uint32_t* masks; /**< 32: groups g and h meet if bit h of masks[g] is set; null: all meet */
  size_t systems;        /**< `domain` has one for each. 0: it is that of all */
} quadrat_contact_options;

typedef struct quadrat_bodies {
  size_t size;
  quadrat_points centers;
  /* optional */
  int shape;                       /**< quadrat_shape, of all bodies */
  quadrat_integers shapes;         /**< by body, instead */
  double radius;                   /**< of all, if they are spheres */
  const void* radii;               /**< (N), of spheres, instead */
  const void* sizes;               /**< (N, 3), instead: radius; half axes; radius and half length; half edges */
  const void* orientations;        /**< (N, 4) quaternions, w first; null: not rotated */
  quadrat_integers groups;         /**< below 32 */
  quadrat_integers ids;            /**< below 2^31, all different; none: the indices */
  const double* planes;            /**< (P, 4) on the host: unit normal towards the bodies, offset */
  size_t plane_count;              /**< P */
  quadrat_integers system_of_body; /**< bodies of different systems do not meet; none: there is one */
} quadrat_bodies;

typedef struct quadrat_contact_view {
  size_t size;
  /* optional */
  uint64_t count;
  const void* records; /**< quadrat_contact_float32 or quadrat_contact_float64 */
} quadrat_contact_view;

int quadrat_contact_detector_create(quadrat_context* context, const quadrat_contact_options* options,
                                    quadrat_contact_detector** contacts);
void quadrat_contact_detector_destroy(quadrat_contact_detector* contacts);
/** Finds all contacts of these bodies, each once. */
int quadrat_contact_detector_build(quadrat_contact_detector* contacts, const quadrat_bodies* bodies);
/** For the arrays and planes of the last build. Accepts no shapes, and no integers other than QUADRAT_UINT32. */
int quadrat_contact_detector_build_async(quadrat_contact_detector* contacts, const quadrat_bodies* bodies);
int quadrat_contact_detector_check(quadrat_contact_detector* contacts);
/** Waits after quadrat_contact_detector_build_async. */
int quadrat_contact_detector_view(quadrat_contact_detector* contacts, quadrat_contact_view* view);
/** As quadrat_neighbor_list_write. */
int quadrat_contact_detector_write(quadrat_contact_detector* contacts, int output, int index_type, void* to);
int quadrat_contact_detector_write_async(quadrat_contact_detector* contacts, int output, int index_type, void* to);
int quadrat_contact_detector_info(quadrat_contact_detector* contacts, quadrat_info* info);

/* Points by cell of a grid. ---------------------------------------------------------------------------------------- */

enum quadrat_cell_output {
  QUADRAT_CELL_OFFSETS = 1, /**< (cells + 1): where the points of each begin; x fastest */
  QUADRAT_CELL_INDICES = 2  /**< indices of points, cell by cell */
};

typedef struct quadrat_cell_list quadrat_cell_list;

typedef struct quadrat_cell_options {
  size_t size;
  int type;
  int dimension; /**< 2 or 3 */
  quadrat_domain domain;
  /* optional */
  int cells[3];       /**< along each axis; all 0: the most that are not smaller than the cutoff */
  int accept_outside; /**< points may be outside the box along open axes, in the outermost cells */
  double cutoff;
} quadrat_cell_options;

/** Before quadrat_cell_list_build there are cells, but no points. */
typedef struct quadrat_cell_view {
  size_t size;
  /* optional */
  size_t points;
  size_t count; /**< of cells */
  const uint32_t* offsets;
  const uint32_t* indices;
  int cells[3]; /**< along each axis */
  int dimension;
} quadrat_cell_view;

int quadrat_cell_list_create(quadrat_context* context, const quadrat_cell_options* options, quadrat_cell_list** cells);
void quadrat_cell_list_destroy(quadrat_cell_list* cells);
/** Data errors: a point that is not finite, or outside the box along an open axis. */
int quadrat_cell_list_build(quadrat_cell_list* cells, const quadrat_points* points);
int quadrat_cell_list_build_async(quadrat_cell_list* cells, const quadrat_points* points);
int quadrat_cell_list_check(quadrat_cell_list* cells);
int quadrat_cell_list_view(quadrat_cell_list* cells, quadrat_cell_view* view);
/** As quadrat_neighbor_list_write. */
int quadrat_cell_list_write(quadrat_cell_list* cells, int output, int index_type, void* to);
int quadrat_cell_list_write_async(quadrat_cell_list* cells, int output, int index_type, void* to);
int quadrat_cell_list_info(quadrat_cell_list* cells, quadrat_info* info);

/* Values of particles on a mesh, by cardinal B-splines. -------------------------------------------------------------
 */

typedef struct quadrat_spread_plan quadrat_spread_plan;

typedef struct quadrat_spread_options {
  size_t size;
  int type;
  int dimension; /**< 1 to 3 */
  quadrat_domain domain;
  int mesh[3]; /**< points along each axis */
  int order;   /**< of the splines: 1 to 8 mesh points wide */
  /* optional */
  int clip;           /**< ignores contributions outside the mesh along open axes; otherwise a data error */
  int accept_outside; /**< points may be outside the box along open axes */
  int both_ends;      /**< open axes have mesh points on both faces */
  int autotune;       /**< the first calls time the methods that may be fastest */
  double uses;        /**< expected calls of spreading per call of set_points; 0: 1 */
  const char* method;
} quadrat_spread_options;

typedef struct quadrat_mesh_call {
  size_t size;
  /* optional */
  int vectors;        /**< V consecutive ones; 0: 1 */
  int complex_values; /**< values are pairs of numbers: real, imaginary */
  int accumulate;     /**< adds to the results */
  int reserved;       /**< 0 */
} quadrat_mesh_call;

int quadrat_spread_plan_create(quadrat_context* context, const quadrat_spread_options* options,
                               quadrat_spread_plan** plan);
void quadrat_spread_plan_destroy(quadrat_spread_plan* plan);
/** Copies the points. Data errors: points that are not finite, or whose footprint is refused. */
int quadrat_spread_plan_set_points(quadrat_spread_plan* plan, const quadrat_points* points);
int quadrat_spread_plan_set_points_async(quadrat_spread_plan* plan, const quadrat_points* points);
int quadrat_spread_plan_check(quadrat_spread_plan* plan);
/** values (V, N) to mesh (V, K0, K1, K2). */
int quadrat_spread_plan_spread(quadrat_spread_plan* plan, const void* values, void* mesh,
                               const quadrat_mesh_call* call);
int quadrat_spread_plan_spread_async(quadrat_spread_plan* plan, const void* values, void* mesh,
                                     const quadrat_mesh_call* call);
/** mesh (V, K0, K1, K2) to values (V, N). */
int quadrat_spread_plan_interpolate(quadrat_spread_plan* plan, const void* mesh, void* values,
                                    const quadrat_mesh_call* call);
int quadrat_spread_plan_interpolate_async(quadrat_spread_plan* plan, const void* mesh, void* values,
                                          const quadrat_mesh_call* call);
/** mesh (V, K0, K1, K2) to gradients (V, N, D) by position. */
int quadrat_spread_plan_interpolate_gradient(quadrat_spread_plan* plan, const void* mesh, void* gradients,
                                             const quadrat_mesh_call* call);
int quadrat_spread_plan_interpolate_gradient_async(quadrat_spread_plan* plan, const void* mesh, void* gradients,
                                                   const quadrat_mesh_call* call);
int quadrat_spread_plan_info(quadrat_spread_plan* plan, quadrat_info* info);

/* Power spectra and structure factors of points in periodic boxes. ------------------------------------------------- */

typedef struct quadrat_power_spectrum quadrat_power_spectrum;

typedef struct quadrat_spectrum_options {
  size_t size;
  int type;
  int dimension; /**< 2 or 3 */
  quadrat_domain domain;
  int mesh[3]; /**< points along each axis: products of 2, 3 and 5, the last one even */
  /* optional */
  int order;               /**< of the splines for spreading, 1 to 4; 0: 4 */
  int single_mesh;         /**< not interlaced with a second mesh */
  int uncompensated;       /**< not divided by the window's square */
  int subtract_shot_noise; /**< from the multipole 0 of a set with itself */
  int structure_factor;    /**< the square of the transform by the number of points, instead of the power */
  const int* multipoles;   /**< degrees, of 0, 2 and 4; null: 0 alone */
  size_t multipole_count;
  int line_of_sight;   /**< the axis to which angles are taken */
  const double* edges; /**< of the bins, increasing; null: multiples of 2 pi / (longest side) */
  size_t edge_count;   /**< one more than bins */
  const char* method;  /**< of spreading; null, "" or "auto": chosen */
  const char* fft;     /**< library; null, "" or "auto": chosen */
} quadrat_spectrum_options;

/** On the host, until the handle's next call. */
typedef struct quadrat_spectrum_view {
  size_t size;
  /* optional */
  size_t bins;
  size_t multipoles;
  const double* edges;   /**< (bins + 1) */
  const double* k;       /**< (bins): the mean; NaN without modes */
  const uint64_t* modes; /**< (bins): of the whole sphere */
  const double* power;   /**< (multipoles, bins) */
  double shot_noise;     /**< what uncorrelated points have in every mode */
} quadrat_spectrum_view;

int quadrat_power_spectrum_create(quadrat_context* context, const quadrat_spectrum_options* options,
                                  quadrat_power_spectrum** spectrum);
void quadrat_power_spectrum_destroy(quadrat_power_spectrum* spectrum);
/** Of the points with themselves. `weights`: by point; null: all 1. Waits. */
int quadrat_power_spectrum_measure(quadrat_power_spectrum* spectrum, const quadrat_points* points, const void* weights);
/** Of two sets. Errors about the second begin with "others". Waits. */
int quadrat_power_spectrum_measure_cross(quadrat_power_spectrum* spectrum, const quadrat_points* points,
                                         const void* weights, const quadrat_points* others, const void* other_weights);
int quadrat_power_spectrum_view(quadrat_power_spectrum* spectrum, quadrat_spectrum_view* view);
int quadrat_power_spectrum_info(quadrat_power_spectrum* spectrum, quadrat_info* info);

/* Non-uniform Fourier transforms. Complex numbers are pairs: real, imaginary. ---------------------------------------
 */

typedef struct quadrat_nufft_plan quadrat_nufft_plan;

typedef struct quadrat_nufft_options {
  size_t size;
  int type;
  int dimension; /**< 1 to 3 */
  int modes[3];  /**< along each axis */
  double tolerance;
  /* optional */
  int real;         /**< values are real; modes are those of numpy.fft.rfftn: the last axis from 0 to K/2 */
  int fft_order;    /**< modes from 0 on, then the negative ones; otherwise from -K/2 on */
  double period[3]; /**< of the points; 0: 2 pi */
  double origin[3];
  double oversampling; /**< of the mesh; 0: auto */
  int systems;         /**< 0: 1 */
  const char* method;  /**< of spreading */
} quadrat_nufft_options;

typedef struct quadrat_nufft_call {
  size_t size;
  /* optional */
  int vectors; /**< V consecutive ones; 0: 1 */
  int sign;    /**< of the exponent: 1 or -1; 0: 1 for types 1 and 3, -1 for type 2 */
} quadrat_nufft_call;

int quadrat_nufft_plan_create(quadrat_context* context, const quadrat_nufft_options* options,
                              quadrat_nufft_plan** plan);
void quadrat_nufft_plan_destroy(quadrat_nufft_plan* plan);
/** Copies the points. `system_of_point`: null for one system; `_async` accepts only QUADRAT_UINT32. */
int quadrat_nufft_plan_set_points(quadrat_nufft_plan* plan, const quadrat_points* points,
                                  const quadrat_integers* system_of_point);
int quadrat_nufft_plan_set_points_async(quadrat_nufft_plan* plan, const quadrat_points* points,
                                        const quadrat_integers* system_of_point);
int quadrat_nufft_plan_check(quadrat_nufft_plan* plan);
/** modes[k] = sum over points of values[j] exp(sign i k . x_j 2 pi / period): values (V, N) to modes (V, systems,
 * K...). */
int quadrat_nufft_plan_type_1(quadrat_nufft_plan* plan, const void* values, void* modes,
                              const quadrat_nufft_call* call);
int quadrat_nufft_plan_type_1_async(quadrat_nufft_plan* plan, const void* values, void* modes,
                                    const quadrat_nufft_call* call);
/** values[j] = sum over modes of modes[k] exp(sign i k . x_j 2 pi / period). */
int quadrat_nufft_plan_type_2(quadrat_nufft_plan* plan, const void* modes, void* values,
                              const quadrat_nufft_call* call);
int quadrat_nufft_plan_type_2_async(quadrat_nufft_plan* plan, const void* modes, void* values,
                                    const quadrat_nufft_call* call);
/** weights[j]: the part of a period's volume that point j represents, one for each point. Ends after `iterations` (0:
 * 30), or when they change by less than `tolerance` (0: 1e-4) of their sum. */
int quadrat_nufft_plan_density_weights(quadrat_nufft_plan* plan, void* weights, int iterations, double tolerance);
/** The bound of the error, relative to the sum of the moduli of the transformed numbers. */
int quadrat_nufft_plan_error_bound(quadrat_nufft_plan* plan, double* bound);
int quadrat_nufft_plan_info(quadrat_nufft_plan* plan, quadrat_info* info);

typedef struct quadrat_normal_operator quadrat_normal_operator;

/** A transform of type 2, a weight for each point, and type 1 with the other sign, in one step: for complex values of
 * one system. */
int quadrat_normal_operator_create(quadrat_context* context, const quadrat_nufft_options* options,
                                   quadrat_normal_operator** normal);
void quadrat_normal_operator_destroy(quadrat_normal_operator* normal);
/** Points and weights (null: all 1) are not needed afterwards. */
int quadrat_normal_operator_set_points(quadrat_normal_operator* normal, const quadrat_points* points,
                                       const void* weights);
/** modes (V, K...) to result (V, K...), which may be the same. The sign is that of type 2. */
int quadrat_normal_operator_apply(quadrat_normal_operator* normal, const void* modes, void* result,
                                  const quadrat_nufft_call* call);
int quadrat_normal_operator_apply_async(quadrat_normal_operator* normal, const void* modes, void* result,
                                        const quadrat_nufft_call* call);
/** The bound of the error of a mode, relative to the sum of the moduli of the weights, times that of the modes. */
int quadrat_normal_operator_error_bound(quadrat_normal_operator* normal, double* bound);
int quadrat_normal_operator_info(quadrat_normal_operator* normal, quadrat_info* info);

typedef struct quadrat_nufft_target_plan quadrat_nufft_target_plan;

typedef struct quadrat_nufft_target_options {
  size_t size;
  int type;
  int dimension; /**< 1 to 3 */
  double tolerance;
  /* optional */
  const char* method; /**< of spreading */
} quadrat_nufft_target_options;

int quadrat_nufft_target_plan_create(quadrat_context* context, const quadrat_nufft_target_options* options,
                                     quadrat_nufft_target_plan** plan);
void quadrat_nufft_target_plan_destroy(quadrat_nufft_target_plan* plan);
/** Copies points and targets (arbitrary frequencies). */
int quadrat_nufft_target_plan_set_points(quadrat_nufft_target_plan* plan, const quadrat_points* points,
                                         const quadrat_points* targets);
int quadrat_nufft_target_plan_set_points_async(quadrat_nufft_target_plan* plan, const quadrat_points* points,
                                               const quadrat_points* targets);
int quadrat_nufft_target_plan_check(quadrat_nufft_target_plan* plan);
/** results[k] = sum over points of values[j] exp(sign i s_k . x_j): values (V, N) to results (V, targets). */
int quadrat_nufft_target_plan_type_3(quadrat_nufft_target_plan* plan, const void* values, void* results,
                                     const quadrat_nufft_call* call);
int quadrat_nufft_target_plan_type_3_async(quadrat_nufft_target_plan* plan, const void* values, void* results,
                                           const quadrat_nufft_call* call);
int quadrat_nufft_target_plan_error_bound(quadrat_nufft_target_plan* plan, double* bound);
int quadrat_nufft_target_plan_info(quadrat_nufft_target_plan* plan, quadrat_info* info);

/* Ewald sums. ------------------------------------------------------------------------------------------------------ */

enum quadrat_pair_law { QUADRAT_COULOMB = 0, QUADRAT_DISPERSION = 1 };
enum quadrat_ewald_parts { QUADRAT_BOTH_PARTS = 0, QUADRAT_SHORT_RANGE = 1, QUADRAT_LONG_RANGE = 2 };

typedef struct quadrat_electrostatics quadrat_electrostatics;

typedef struct quadrat_ewald_options {
  size_t size;
  int type;
  /* optional */
  int law;                 /**< quadrat_pair_law: k q q / r, or -k c c / r^6 */
  const char* method;      /**< null, "" or "auto": the one expected to be fastest */
  double accuracy;         /**< rms error of forces, in units of k q^2 / d^2, d^3 the volume by point; 0: 1e-5 */
  double coulomb_constant; /**< k; 0: 1 */
  double cutoff;           /**< this and the following: 0: chosen; other values determine the accuracy */
  double splitting;
  int mesh[3];
  int order;
  int parts;            /**< quadrat_ewald_parts */
  int remove_net_force; /**< subtracts the mean force of each system */
} quadrat_ewald_options;

/** A pair of points whose interaction is multiplied by `scale`; 0 excludes it. */
typedef struct quadrat_scaled_pair {
  uint32_t first;
  uint32_t second;
  double scale;
} quadrat_scaled_pair;

typedef struct quadrat_ewald_input {
  size_t size;
  quadrat_points points; /**< in 3D */
  const void* charges;   /**< by point */
  quadrat_boxes cells;   /**< periodic along all vectors, or along the first two: a slab */
  /* optional */
  quadrat_integers system_of_point;
  const quadrat_scaled_pair* scaled_pairs; /**< on the host, each pair once */
  size_t scaled_pair_count;
} quadrat_ewald_input;

/** Arrays of the device for the results; null: not computed. */
typedef struct quadrat_ewald_output {
  size_t size;
  /* optional */
  void* forces;     /**< (N, 3) */
  void* potentials; /**< (N): the derivative of the energy by the charge */
  void* energies;   /**< (N): half of the energy of the pairs of each point */
  double* energy;   /**< (systems) */
  double* virial;   /**< (systems, 3, 3): minus the derivative of the energy by a strain */
} quadrat_ewald_output;

/** The chosen parameters, and the expected errors in units of the reference force and energy. */
typedef struct quadrat_ewald_report {
  size_t size;
  /* optional */
  double cutoff;
  double splitting;
  int mesh[3];
  int order;
  double error;
  double energy_error;
  double virial_error;
} quadrat_ewald_report;

int quadrat_electrostatics_create(quadrat_context* context, const quadrat_ewald_options* options,
                                  quadrat_electrostatics** sums);
void quadrat_electrostatics_destroy(quadrat_electrostatics* sums);
/** Data errors: points or charges that are not finite, two coincident points that are not excluded, a point outside
 * its slab. */
int quadrat_electrostatics_compute(quadrat_electrostatics* sums, const quadrat_ewald_input* input,
                                   const quadrat_ewald_output* output);
/** For the cells, scaled pairs and number of points of the last quadrat_electrostatics_compute. */
int quadrat_electrostatics_compute_async(quadrat_electrostatics* sums, const quadrat_ewald_input* input,
                                         const quadrat_ewald_output* output);
int quadrat_electrostatics_check(quadrat_electrostatics* sums);
/** The report of the last quadrat_electrostatics_compute. */
int quadrat_electrostatics_report(quadrat_electrostatics* sums, quadrat_ewald_report* report);
int quadrat_electrostatics_info(quadrat_electrostatics* sums, quadrat_info* info);

/* The mobility of spheres in a fluid, by Rotne, Prager and Yamakawa, in a periodic box. ------------------------------
 */

typedef struct quadrat_mobility quadrat_mobility;

typedef struct quadrat_mobility_options {
  size_t size;
  int type;
  /* optional */
  int modes[3]; /**< this, the cutoff and the splitting: 0 is chosen */
  const char* method;
  double accuracy;  /**< of velocities, relative; 0: 1e-3 */
  double radius;    /**< of the spheres; 0: 1 */
  double viscosity; /**< 0: 1 */
  double cutoff;
  double splitting;
} quadrat_mobility_options;

/** Selects the Brownian velocities: equal numbers give equal bits. */
typedef struct quadrat_mobility_noise {
  uint64_t seed;
  uint64_t step;
  double scale; /**< factor of the velocities: sqrt(2 kT / dt) */
} quadrat_mobility_noise;

/** For a box with these edges, on the host. */
int quadrat_mobility_create(quadrat_context* context, const double box[3], const quadrat_mobility_options* options,
                            quadrat_mobility** mobility);
void quadrat_mobility_destroy(quadrat_mobility* mobility);
/** Chooses parameters for a number of spheres. Call it before the other calls. */
int quadrat_mobility_prepare(quadrat_mobility* mobility, size_t count);
int quadrat_mobility_set_points(quadrat_mobility* mobility, const quadrat_points* points);
/** velocities = M forces, both (N, 3), may be the same. */
int quadrat_mobility_multiply(quadrat_mobility* mobility, const void* forces, void* velocities);
int quadrat_mobility_multiply_async(quadrat_mobility* mobility, const void* forces, void* velocities);
/** velocities = M forces + scale B z with B B^T = M and normal random numbers z. Null forces: only the second term. */
int quadrat_mobility_velocities(quadrat_mobility* mobility, const void* forces, const quadrat_mobility_noise* noise,
                                void* velocities);
int quadrat_mobility_check(quadrat_mobility* mobility);
int quadrat_mobility_info(quadrat_mobility* mobility, quadrat_info* info);

/* Reduction by key. ------------------------------------------------------------------------------------------------ */

enum quadrat_key_operation { QUADRAT_SUM = 0, QUADRAT_MINIMUM = 1, QUADRAT_MAXIMUM = 2, QUADRAT_MEAN = 3 };

typedef struct quadrat_key_reducer quadrat_key_reducer;

typedef struct quadrat_key_reducer_options {
  size_t size;
  uint64_t key_count; /**< keys are below it */
  /* optional */
  const char* method;
  double uses;          /**< expected reductions per call of set_keys; 0: 1 */
  int value_bytes;      /**< of a row of values, for choosing a method; 0: 4 */
  int value_components; /**< of a row, likewise; 0: 1 */
  int compensated;      /**< sums of floating-point numbers that carry their rounding errors */
  int autotune;
} quadrat_key_reducer_options;

/** Row i of the values, and of the results: `components` numbers from element i * stride on. */
typedef struct quadrat_key_call {
  size_t size;
  int value_type; /**< QUADRAT_INT32, QUADRAT_INT64, QUADRAT_FLOAT32 or QUADRAT_FLOAT64 */
  /* optional */
  int operation;  /**< quadrat_key_operation */
  int components; /**< 1 to 8; 0: 1 */
  int accumulate; /**< combines with the contents of the results */
  size_t stride;  /**< of values; 0: packed. Results are packed */
} quadrat_key_call;

int quadrat_key_reducer_create(quadrat_context* context, const quadrat_key_reducer_options* options,
                               quadrat_key_reducer** reducer);
void quadrat_key_reducer_destroy(quadrat_key_reducer* reducer);
/** QUADRAT_INT32, QUADRAT_UINT32, QUADRAT_INT64 or QUADRAT_UINT64. Not copied: keys must not change while they are
 * in use. Keys out of range are data errors. */
int quadrat_key_reducer_set_keys(quadrat_key_reducer* reducer, const quadrat_integers* keys);
int quadrat_key_reducer_set_keys_async(quadrat_key_reducer* reducer, const quadrat_integers* keys);
/** results (key_count, components) from values (keys, components). A key without values: 0 for sums, NaN for means, the
 * largest number or infinity for minima, the smallest for maxima. */
int quadrat_key_reducer_reduce(quadrat_key_reducer* reducer, const void* values, void* results,
                               const quadrat_key_call* call);
int quadrat_key_reducer_reduce_async(quadrat_key_reducer* reducer, const void* values, void* results,
                                     const quadrat_key_call* call);
/** results[k] = number of elements with key k. */
int quadrat_key_reducer_count(quadrat_key_reducer* reducer, uint64_t* results);
int quadrat_key_reducer_count_async(quadrat_key_reducer* reducer, uint64_t* results);
int quadrat_key_reducer_check(quadrat_key_reducer* reducer);
int quadrat_key_reducer_info(quadrat_key_reducer* reducer, quadrat_info* info);

/* The choice of methods. ------------------------------------------------------------------------------------------- */

enum quadrat_task {
  QUADRAT_TASK_SPREAD = 0,
  QUADRAT_TASK_REDUCE = 1,
  QUADRAT_TASK_NEIGHBORS = 2,
  QUADRAT_TASK_CONTACTS = 3
};

/** A load without data: evenly distributed points in random order, or random keys. */
typedef struct quadrat_load {
  size_t size;
  int task;     /**< quadrat_task */
  double count; /**< of points, elements or bodies */
  /* optional */
  int cells[3];    /**< mesh points, or cells as large as the cutoff, along 1 to 3 axes; all 0: 64, 64, 64 */
  int order;       /**< of the splines; 0: 6 */
  double uses;     /**< of data prepared once; 0: 1 */
  double keys;     /**< 0: as many as cells */
  int type;        /**< QUADRAT_FLOAT32 or QUADRAT_FLOAT64; 0: QUADRAT_FLOAT32 */
  double contacts; /**< of a body, as found by an earlier search; 0: not known */
  int shipped_gpu; /**< answers for an NVIDIA H200, whatever the context */
  int reserved;    /**< 0 */
} quadrat_load;

/** Texts belong to the choice. */
typedef struct quadrat_explanation {
  size_t size;
  /* optional */
  const char* method; /**< empty: none serves */
  const char* reason;
  const char* text; /**< a table of all methods with their expected times */
  const char* json; /**< the same */
} quadrat_explanation;

typedef struct quadrat_choice quadrat_choice;

int quadrat_choice_create(quadrat_context* context, const quadrat_load* load, quadrat_choice** choice);
void quadrat_choice_destroy(quadrat_choice* choice);
int quadrat_choice_explanation(quadrat_choice* choice, quadrat_explanation* view);
/** Names of the methods for a task (quadrat_task) on a kind of device (quadrat_device), each with the end of a line;
 * none on QUADRAT_CUDA where the library was built without CUDA. The text is valid until this thread asks again. */
int quadrat_method_names(int device, int task, const char** names);

/* NOLINTEND(modernize-use-using) */

#ifdef __cplusplus
}
#endif

#endif
