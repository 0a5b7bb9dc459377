bad=$(printf 'bad\377'); mkdir "$bad"; cd "$bad"
oprun --junit j.xml || echo "exit $?"; oprun --output quiet --events - | wc -l; oprun list; ls
