# exit: 5
REMAT_PLAN_HIGHS=/nonexistent/libhighs.so remat-plan solve --ignore-clock data/graph/good/chain.json -b 80% --engine highs
