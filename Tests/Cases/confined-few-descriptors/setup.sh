# Steps that end when all of them run.
for i in $(seq 50); do
  echo "  - {id: s$i, run: 'echo >out/$i; set -- out/*; until [ \$# -ge 50 ]; do sleep 0.2; set -- out/*; done', timeout: 60s, cache: {inputs: [], outputs: [out/$i]}}"
done >steps
{ echo "max_parallel: 50"; echo "steps:"; cat steps; } >together.yml
{ echo "max_parallel: 200"; echo "steps:"; for i in $(seq 200); do echo "  - {id: s$i, run: echo $i, cache: {inputs: []}}"; done; } >many.yml
mkdir out
