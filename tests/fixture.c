#include "fixture.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "naive.h"
#include "run.h"

const char rp_net[] =
    "{'format':'remat-graph','version':1,'name':'net','time_source':'imported:test',"
    "'device':{'alignment_bytes':4,'h2d_bytes_per_s':1000000000,"
    "'d2h_bytes_per_s':500000000,'copy_latency_ns':10},'tensors':["
    "{'name':'w','bytes':8,'kind':'parameter'},{'name':'x','bytes':8,'kind':'activation'},"
    "{'name':'y','bytes':6,'kind':'activation'},{'name':'z','bytes':4,'kind':'activation'},"
    "{'name':'u','bytes':8,'kind':'activation'},{'name':'v','bytes':4,'kind':'gradient'}],"
    "'ops':[{'name':'a','kind':'k','inputs':[0],'outputs':[1],'time_ns':10},"
    "{'name':'b','kind':'k','inputs':[1],'outputs':[2,3],'time_ns':20,"
    "'workspace_bytes':5},"
    "{'name':'c','kind':'k','inputs':[2],'outputs':[4],'time_ns':30,'recompute':false},"
    "{'name':'d','kind':'k','inputs':[1,3,4],'outputs':[5],'time_ns':40}],'keep':[5,0]}";

const char rp_state[] =
    "{'format':'remat-graph','version':2,'name':'state','time_source':'imported:test',"
    "'device':{'alignment_bytes':4,'h2d_bytes_per_s':1000000000,"
    "'d2h_bytes_per_s':500000000,'copy_latency_ns':10},'tensors':["
    "{'name':'w','bytes':8,'kind':'parameter'},"
    "{'name':'t','bytes':8,'kind':'state','home':'host'},"
    "{'name':'s','bytes':8,'kind':'state','home':'any'},"
    "{'name':'x','bytes':8,'kind':'activation'},"
    "{'name':'y','bytes':8,'kind':'activation'},"
    "{'name':'z','bytes':6,'kind':'activation','held':true},"
    "{'name':'v','bytes':4,'kind':'gradient'}],'ops':["
    "{'name':'f','kind':'k','inputs':[0],'outputs':[3],'time_ns':10,'ordered':true},"
    "{'name':'g','kind':'k','inputs':[3],'outputs':[4,5],'time_ns':20,'rewrites':false},"
    "{'name':'u','kind':'k','inputs':[4],'outputs':[],'updates':[0],'time_ns':30,"
    "'ordered':true},"
    "{'name':'h','kind':'k','inputs':[0,3],'outputs':[6],'time_ns':40},"
    "{'name':'e','kind':'k','inputs':[],'outputs':[],'updates':[1],'time_ns':5,"
    "'ordered':true}],'keep':[6]}";

char *rp_quoted(const char *text) {
    char *s = rp_strdup(text);
    for (char *c = s; *c != '\0'; c++)
        if (*c == '\'')
            *c = '"';
    return s;
}

#define ALL_PLANS                                                                          \
    ",'bound_for':{'recompute':true,'swap':true,'host_budget_bytes':null,'order':'any',"   \
    "'programs':'all'}"

void rp_world_open(struct rp_world *w, const char *graph, const char *sizes,
                   const char *steps) {
    *w = (struct rp_world){0};
    char *text = rp_quoted(graph);
    rp_rc rc = rp_graph_parse(text, strlen(text), "net", &w->g, &w->err);
    CU_ASSERT_EQUAL_FATAL(rc, RP_OK);
    free(text);
    /* Read as version 2 if it has homes, but with the looser rules of version 1. */
    bool homes = strstr(sizes, "'homes'") != NULL;
    char *plan = rp_format("{'format':'remat-plan','version':%d,'graph':{'name':'%s',"
                           "'sha256':'%s'},%s,'steps':[%s],'claims':{'time_ns':0,"
                           "'baseline_time_ns':0,'recompute_ns':0,'stall_ns':0,"
                           "'peak_bytes':0,'lower_bound_ns':0,'proof':'none'%s}}",
                           homes ? 2 : 1, w->g.name, w->g.sha256, sizes, steps,
                           homes ? ALL_PLANS : "");
    text = rp_quoted(plan);
    rc = rp_plan_parse(text, strlen(text), "plan", &w->p, &w->err);
    CU_ASSERT_STRING_EQUAL(w->err.msg, "");
    CU_ASSERT_EQUAL_FATAL(rc, RP_OK);
    w->p.version_1 = true;
    free(text);
    free(plan);
    struct rp_bound_scope bound_for = w->p.claims.bound_for;
    rp_naive_steps(&w->g, &w->p, &w->p.claims);
    w->p.claims.bound_for = bound_for;
}

void rp_world_close(struct rp_world *w) {
    rp_plan_fini(&w->p);
    rp_graph_fini(&w->g);
}
