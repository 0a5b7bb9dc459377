for try in $(seq 1200); do
  readlink "/proc/$(cat step.pid)/exe" >/dev/null ||
    readlink "/proc/$(cat session.pid)/exe" >/dev/null || break
  sleep 0.1
done

for file in *.pid; do
  echo "$file: $(basename "$(readlink "/proc/$(cat "$file")/exe" || echo gone)")"
done
