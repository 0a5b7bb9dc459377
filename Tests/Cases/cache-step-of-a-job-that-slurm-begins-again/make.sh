for name in out/made.txt mine.txt; do
  if [ -e begun ]; then
    test $(cat $name 2>/dev/null || echo none) = half || echo whole >$name
  else
    mkdir -p out
    echo half >$name
  fi
done
if [ ! -e begun ]; then
  touch begun
  sleep 1000
fi
