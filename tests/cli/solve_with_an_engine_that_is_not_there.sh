# exit: 5
REMAT_PLAN_HIGHS=/nonexistent/libhighs.so remat-plan solve data/graph/good/chain.json -b 80% --engine highs
