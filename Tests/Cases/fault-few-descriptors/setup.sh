{ echo steps:; for i in $(seq 200); do echo "  - {id: s$i, run: echo $i}"; done; } >pipeline.yml
