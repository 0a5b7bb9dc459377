{ printf 'steps: [{id: a, run: "'; head -c 1100000 /dev/zero | tr '\0' x; echo '"}]'; } >pipeline.yml
