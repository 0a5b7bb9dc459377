# Steps that end when all of them run.
for i in $(seq 50); do
  echo "  - {id: s$i, run: 'echo >out/$i; until [ \$(ls out | wc -l) -ge 50 ]; do sleep 0.05; done', timeout: 20s, cache: {inputs: [], outputs: [out/$i]}}"
done >steps
{ echo "max_parallel: 50"; echo "steps:"; cat steps; } >together.yml
{ echo "max_parallel: 200"; echo "steps:"; for i in $(seq 200); do echo "  - {id: s$i, run: echo $i, cache: {inputs: []}}"; done; } >many.yml
mkdir out
