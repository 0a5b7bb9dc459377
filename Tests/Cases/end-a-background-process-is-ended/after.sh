for file in *.pid; do
  echo "$file: $(basename "$(readlink "/proc/$(cat "$file")/exe" || echo gone)")"
done
