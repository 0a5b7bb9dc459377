{ echo steps:; for i in $(seq 30); do echo "  - {id: s$i, run: make, wrong$i: 1}"; done; } >pipeline.yml
