# exit: 5
REMAT_PLAN_HIGHS=libm.so.6 remat-plan solve data/graph/good/chain.json -b 80% --engine highs
