# exit: 0
REMAT_PLAN_HIGHS=/nonexistent remat-plan --version |
    sed -E "s/ $(cat "$(dirname "$0")/../../VERSION")$/ VERSION/; s/GLPK [0-9.]+/GLPK N/"
