name=$(head -c 900000 /dev/zero | tr '\0' a)
cat >long.yml <<END
name: $name
steps:
  - {id: a, name: $name, run: exit 3}
  - {id: b, run: echo, wait_for: [{file: $name, every: 50ms, timeout: 100ms}]}
END
