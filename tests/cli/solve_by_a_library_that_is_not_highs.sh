# exit: 5
REMAT_PLAN_HIGHS=libm.so.6 remat-plan solve --ignore-clock data/graph/good/chain.json -b 80% --engine highs
