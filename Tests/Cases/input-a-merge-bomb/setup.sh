{
  printf 'x-0: &m0 {'
  for i in $(seq 1000); do printf 'k%s: 1, ' "$i"; done
  echo '}'
  for i in $(seq 9); do
    printf 'x-%s: &m%s {' "$i" "$i"
    echo "<<: [$(printf "*m$((i - 1)), %.0s" 1 2 3 4 5 6 7 8 9 10)]}"
  done
  echo 'steps: [{id: a, run: make}]'
} >pipeline.yml
