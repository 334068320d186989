#!/usr/bin/env bash
# explain of a layout of 16,384 ranks: seconds and memory (design.md's figures: 10 s, 2 GB). By hand.
# Usage: explain_bench.sh PROGRAM, for instance build/host/bin/meshparity
set -eu
program=$(realpath "$1")
models=$(realpath "$(dirname "$0")/../../fixtures/models")
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
sed -e 's/^name = .*/name = "big"/' -e 's/^layers = .*/layers = 96/' -e 's/^hidden = .*/hidden = 18432/' \
  -e 's/^ffn = .*/ffn = 73728/' -e 's/^heads = .*/heads = 144/' -e 's/^kv_heads = .*/kv_heads = 16/' \
  -e 's/^head_dim = .*/head_dim = 128/' -e 's/^vocabulary = .*/vocabulary = 128001/' \
  -e 's/^padded_vocabulary = .*/padded_vocabulary = 128256/' -e 's/^sequence = .*/sequence = 2048/' \
  -e 's/^global_batch = .*/global_batch = 8192/' "$models/llama-timing.toml" > "$folder/big.toml"
for form in text json; do
  option=""
  [ "$form" = text ] || option=--json
  # shellcheck disable=SC2086
  /usr/bin/time -f "$form: %e s, %M kB" "$program" explain big.dp2048-tp8.sp-mb4.fp32.host-threads \
    --ranks-per-node 8 --models "$folder" $option > "$folder/out"
done
/usr/bin/time -f "plan: %e s, %M kB" "$program" plan --model big --ranks 16384 --ranks-per-node 8 \
  --models "$folder" > "$folder/out"
