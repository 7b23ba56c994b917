/* draft: a random graph while it is drawn. Part of generator.h: shapes.c says which op
 * reads what, generator.c draws the numbers and writes the text. */
#ifndef RP_CAMPAIGN_DRAFT_H
#define RP_CAMPAIGN_DRAFT_H

#include "generator.h"

enum { CAM_NONE = -1, CAM_MAX_INPUTS = 48, CAM_MAX_OUTPUTS = 40, CAM_MAX_UPDATES = 3 };

struct cam_op {
    int in[CAM_MAX_INPUTS], out[CAM_MAX_OUTPUTS], updates[CAM_MAX_UPDATES];
    int n_in, n_out, n_updates;
    uint64_t time_ns, workspace;
    bool once, ordered, rewrites;
    bool wide; /* many inputs and outputs */
};

struct cam_tensor {
    uint64_t bytes;
    const char *kind, *home; /* home: NULL if it is not stated */
    bool held, kept, source;
};

struct cam_draft {
    struct rp_rng *r;
    const struct cam_wish *wish;
    int n_ops, n_tensors, n_sources;
    bool slow_copies; /* the time of a copy may overflow */
    struct cam_op *ops;
    struct cam_tensor *tensors;
};

/* Draws a shape; its name. cam_connect then gives op i its inputs, and is called in the
 * order of the ops, each with its outputs before the next. */
const char *cam_draw_shape(struct cam_draft *d, int *shape);
void cam_connect(struct cam_draft *d, int shape, int i);

/* Op i reads many outputs of the ops before, of the last ones in the first place. */
void cam_read_many(struct cam_draft *d, int i);

#endif
