{
  echo "steps:"
  for n in $(seq 10 27); do echo "  - {id: compile-$n, run: make $n}"; done
  for n in $(seq 10 27); do echo "  - {id: test-$n, depends_on: [compile-$n, compile-$((10 + (n * 7 + 3) % 18))], run: make test-$n}"; done
} >pipeline.yml
