# exit: 0
# The search of all programs finds the best plan. It gets addresses once its buffers are freed as
# early as they can be.
cat >graph.json <<'END'
{"format": "remat-graph", "version": 1, "name": "gaps", "time_source": "imported:gaps",
 "device": {"alignment_bytes": 1, "h2d_bytes_per_s": 2624201764, "d2h_bytes_per_s": 2641237008},
 "tensors": [
  {"name": "w", "bytes": 7, "kind": "parameter"},
  {"name": "a", "bytes": 9, "kind": "activation"}, {"name": "b", "bytes": 7, "kind": "activation"},
  {"name": "c", "bytes": 8, "kind": "activation"}, {"name": "d", "bytes": 1, "kind": "activation"},
  {"name": "e", "bytes": 5, "kind": "gradient"}, {"name": "f", "bytes": 3, "kind": "gradient"}],
 "ops": [
  {"name": "p", "kind": "any", "time_ns": 1, "inputs": [], "outputs": [1, 2]},
  {"name": "q", "kind": "any", "time_ns": 3, "inputs": [2, 0], "outputs": [3]},
  {"name": "r", "kind": "any", "time_ns": 6, "inputs": [3], "outputs": [4]},
  {"name": "s", "kind": "any", "time_ns": 8, "inputs": [4, 3], "outputs": [5]},
  {"name": "t", "kind": "any", "time_ns": 8, "inputs": [5, 2, 0], "outputs": [6]}],
 "keep": [1, 6]}
END
remat-plan solve graph.json -b 23 --no-addresses --ignore-clock -t 1 | grep -v '^plan'
remat-plan solve graph.json -b 23 --ignore-clock -t 1
