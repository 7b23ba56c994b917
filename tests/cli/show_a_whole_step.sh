# exit: 0
# Every kind of step, of memory and of phase: as text, as JSON and as a picture.
set -- data/graph/good/step.json data/plan/good/step.json
remat-plan show --steps "$@"
remat-plan show --json --steps "$@"
remat-plan show -q --svg - "$@" | sed '/<style>/,/<\/style>/d'
