bad=$(printf 'bad\377'); mkdir -p "$bad/below"; cp oprun.yml "$bad"; cd "$bad/below"
oprun --junit j.xml || echo "exit $?"; oprun --output quiet --events - | wc -l; oprun list; ls
