# exit: 0
# A copy of w would take longer than any plan may, so that it stays on the device.
cat >graph.json <<'END'
{"format": "remat-graph", "version": 2, "name": "slow", "time_source": "imported:slow",
 "device": {"alignment_bytes": 1, "h2d_bytes_per_s": 5000000000, "d2h_bytes_per_s": 6},
 "tensors": [
  {"name": "w", "bytes": 9683912758475, "kind": "parameter", "home": "any"},
  {"name": "a", "bytes": 9, "kind": "activation"}, {"name": "b", "bytes": 7, "kind": "activation"},
  {"name": "c", "bytes": 8, "kind": "activation"}, {"name": "d", "bytes": 1, "kind": "gradient"}],
 "ops": [
  {"name": "p", "kind": "any", "time_ns": 1, "inputs": [0], "outputs": [1]},
  {"name": "q", "kind": "any", "time_ns": 3, "inputs": [1], "outputs": [2]},
  {"name": "r", "kind": "any", "time_ns": 6, "inputs": [2], "outputs": [3]},
  {"name": "s", "kind": "any", "time_ns": 8, "inputs": [3, 1, 0], "outputs": [4]}],
 "keep": [4]}
END
remat-plan solve graph.json -b 9683912758495 --ignore-clock -t 0.1 | grep -v '^plan'
