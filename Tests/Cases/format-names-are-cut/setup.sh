long=$(printf 'x%.0s' $(seq 300))
printf 'steps:\n  - id: a\n    run: make\n    %s: 1\n  - id: %s\n    run: make\n' "$long" "$long" >pipeline.yml
