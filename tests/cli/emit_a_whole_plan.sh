# exit: 0
# All tables, with names that would end a string or a comment.
remat-plan emit -q --target c -o here data/graph/good/step.json data/plan/good/step.json
cat here/plan.c
