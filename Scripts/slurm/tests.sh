# shellcheck shell=bash disable=SC2154,SC2016
# The acceptance tests of Scripts/test-slurm, which reads this file: each is a function that runs in an empty
# directory, and fails at the first command that does.

# Number, kind (quick, all, root: all, and only as root; none: not possible yet), and what must hold. Those of kind
# quick, and 4, run with default scheduling as well if all are wanted.
tests() {
  cat <<'X'
1 quick a cluster that runs is started again in 2 s
2 quick every step of a graph runs once, after those that it depends on
3 quick the same inside one allocation
4 all a chain of 40 steps takes at most a minute, and seconds inside an allocation
5 quick a matrix is submitted as one array
6 quick oprun is killed again and again: every step runs once
7 quick a step whose node fails runs again on another one
8 quick a step that is lost inside an allocation is not a success
9 all of two copies of a job the newest counts
10 all jobs that the controller forgets in a crash are submitted again
11 all chaos: oprun, nodes and the controller are killed
12 quick a job that somebody cancels is said to be cancelled, and what depends on it does not run
13 all a job that Slurm has forgotten has a result
14 all without a controller nothing fails
15 all a job that makes room for another runs again
16 all a time limit of Slurm is named
17 quick what cannot be had is refused, or said
18 quick two of three steps with a GPU run at once on a node with two
19 quick the first signal cancels all jobs
20 quick the queue is looked at seldom, and never by ids
21 quick a submission whose answer is lost runs once
22 all priorities are those of the file
23 root without its database Slurm's exit statuses are wrong, and oprun's are not
24 root the whole suite as a plain user
26 quick the example for a cluster runs as jobs, and as one job
27 quick a run is asked, and cancelled, where only its files are seen
28 quick memory and GPUs of an allocation are divided among steps
25 quick what runs inside an allocation is stopped in order
30 quick a directory that nodes do not see is noticed with the first job
31 quick the doctor examines the cluster
32 quick what a killed oprun has left inside an allocation is ended by the next one, or by cancel
34 quick a step whose srun is killed runs once
33 quick jobs of a killed oprun are cancelled
29 quick a resumed run stays in Slurm without being told again
35 quick a run that detaches itself goes on with each resumed one
36 quick nothing is restored beside a job of an earlier run that makes something else
X
}

# Called after each test: whatever it has broken is repaired.
restore_cluster() {
  scancel --me 2>/dev/null
  [ -e "$OPRUN_SLURM/dirty" ] || return 0
  rm -f "$OPRUN_SLURM/dirty"
  "$here/stop.sh"
}

dirty() { touch "$OPRUN_SLURM/dirty"; }

fail() {
  echo "$*" >&2
  exit 1
}

# Ends a test that cannot run here, which is no success.
cannot_run() { # why
  echo "$*" >"$work.cannot"
  exit 77
}

# Waits until a command succeeds: SECONDS COMMAND…
eventually() {
  local end=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    [ "$SECONDS" -lt "$end" ] || fail "not within its time: $*"
    sleep 0.1
  done
}

has_lines() { [ "$(cat "$1" 2>/dev/null | wc -l)" -ge "$2" ]; }

expect() { # what, found, wanted
  [ "$2" = "$3" ] || fail "$1: found '$2', wanted '$3'"
}

at_most() { # what, found, limit
  [ "$2" -le "$3" ] || fail "$1: $2, at most $3"
}

# Something that was measured, which is printed with the test.
figure() { echo "$*" | tee -a "$work.figures"; }

# A run that must not hang.
oprun() { timeout -k 10 "${limit:-120}" "$program" "$@"; }

status_of() {
  local status=0
  "$@" >out 2>&1 || status=$?
  cat out >&2
  echo "$status"
}

# The outcome of a step in the last run.
outcome() {
  "$program" show last --json | python3 -c '
import json, sys
run = json.load(sys.stdin)
print(next(result["outcome"] for result in run["results"] if result["step"] == sys.argv[1]))' "$1"
}

header() {
  echo "executor: slurm"
  echo "slurm: {submit_rate: 200/s, max_queued: 2000, poll: 1s, file_wait: 5s${1:+, $1}}"
  echo "max_parallel: 2000"
}

# A graph in layers: LAYERS WIDTH. Each step has three parents, says that it ran, and that they did not.
graph() {
  local layer index parent parents name
  mkdir -p done ran
  header "${3:-}"
  echo "steps:"
  for layer in $(seq 1 "$1"); do
    for index in $(seq 0 $(($2 - 1))); do
      name=s$layer.$index
      parents=
      if [ "$layer" -gt 1 ]; then
        for parent in 0 7 13; do parents+="s$((layer - 1)).$(((index + parent) % $2)) "; done
      fi
      echo "  - id: $name"
      echo "    depends_on: [$(sed 's/ $//; s/ /, /g' <<<"$parents")]"
      echo "    run: |"
      echo "      echo \$SLURMD_NODENAME \$SLURM_JOB_ID >>ran/$name"
      echo "      for parent in $parents; do [ -e done/\$parent ] || echo $name \$parent >>violations; done"
      [ -z "${pause:-}" ] || echo "      sleep $pause"
      echo "      touch done/$name"
    done
  done
}

# Every step of the graph ran, at most as often as given, and after its parents.
check_graph() { # count, runs at most
  figure "$1 steps in $(run_seconds) s, $(cat ran/* | wc -l) runs"
  expect "steps that are done" "$(ls done | wc -l)" "$1"
  [ ! -e violations ] || fail "order: $(head -n 3 violations)"
  local most
  most=$(cat ran/* | wc -l)
  at_most "runs of $1 steps" "$most" "$2"
}

test_1() {
  local start=$SECONDS
  "$here/start.sh" >/dev/null
  at_most "seconds to start" $((SECONDS - start)) 2
  expect "a job" "$(status_of srun --quiet sh -c 'exit 3')" 3
}

test_2() {
  local layers=5 width=12
  [ -z "$all" ] || { layers=10 width=100; }
  graph $layers $width >p.yml
  expect status "$(status_of oprun run p.yml --output quiet)" 0
  check_graph $((layers * width)) $((layers * width))
  at_most seconds "$(run_seconds)" 60
}

# Submits a pipeline as one job with these options, and waits for its end, at most a minute.
submitted() {
  local job
  job=$("$program" submit p.yml -- --output=job.out "$@")
  job=${job##* }
  eventually 60 eval "[ \"\$(squeue -h -t all -o %T -j $job | grep -cE 'PENDING|RUNNING|COMPLETING|CONFIGURING')\" = 0 ]"
  cat job.out >&2
  expect state "$(squeue -h -t all -o %T -j "$job")" COMPLETED
}

test_3() {
  local layers=5 width=12
  [ -z "$all" ] || { layers=10 width=100; }
  graph $layers $width >p.yml
  sed -i '/^max_parallel/d' p.yml
  submitted --nodes=4 --exclusive
  check_graph $((layers * width)) $((layers * width))
  [ "$(sed 's/.* //' ran/* | sort -u | wc -l)" = 1 ] || fail "more than one job: $(sort -u ran/*)"
  at_most "seconds on four nodes" "$(run_seconds)" 60
  rm -rf done ran .oprun
  graph $layers $width >p.yml
  sed -i '/^max_parallel/d' p.yml
  submitted --nodes=1 --exclusive
  check_graph $((layers * width)) $((layers * width))
  at_most "seconds on one node" "$(run_seconds)" 5
}

# How long the last run took, in seconds.
run_seconds() {
  "$program" show last --json | python3 -c 'import json, sys; print(round(json.load(sys.stdin)["duration_ms"] / 1000))'
}

test_4() {
  local index
  { header; echo "sequence: true"; echo "steps:"; for index in $(seq 40); do echo "  - {id: s$index, run: 'echo $index >>order'}"; done; } >p.yml
  expect status "$(limit=240 status_of oprun run p.yml --output quiet)" 0
  expect order "$(tr '\n' ' ' <order)" "$(seq -s ' ' 40) "
  figure "as jobs: $(run_seconds) s"
  at_most "seconds as jobs" "$(run_seconds)" "$([ -z "${default_scheduling:-}" ] && echo 60 || echo 160)"
  rm order
  submitted --nodes=1 --exclusive
  expect order "$(tr '\n' ' ' <order)" "$(seq -s ' ' 40) "
  figure "inside an allocation: $(run_seconds) s"
  at_most "seconds inside an allocation" "$(run_seconds)" 5
}

test_6() {
  local kills=4 layers=4 width=8 count=0 run
  [ -z "$all" ] || { kills=30 layers=10 width=100; }
  pause=0.2 graph $layers $width >p.yml
  while [ $count -lt $kills ]; do
    "$program" run p.yml --resume --output quiet >>out 2>&1 &
    run=$!
    sleep "0.$((RANDOM % 9 + 1))"
    [ $((count % 3)) -ne 2 ] || sleep 1
    if ! kill -9 $run 2>/dev/null; then break; fi
    wait $run 2>/dev/null || :
    count=$((count + 1))
  done
  expect status "$(status_of oprun run p.yml --resume --output quiet)" 0
  figure "killed $count times"
  check_graph $((layers * width)) $((layers * width))
}

# Kills a virtual node with everything on it, as a power failure would.
kill_node() {
  local node=$1 daemon stepd process all=
  daemon=$(cat "$OPRUN_SLURM/slurmd-$node.pid")
  kill -STOP "$daemon" 2>/dev/null || :
  for stepd in $(pgrep -x slurmstepd || :); do
    [ -n "$(find "/proc/$stepd/fd" -lname "$OPRUN_SLURM/log/slurmd-$node.log" 2>/dev/null)" ] || continue
    all+=" $stepd $(descendants "$stepd")"
  done
  # What has left its parents is known by its variables.
  for process in $(grep -lzs "^SLURMD_NODENAME=$node\$" /proc/[0-9]*/environ | cut -d/ -f3); do
    if grep -qzs "^SLURM_CONF=$SLURM_CONF\$" "/proc/$process/environ"; then all+=" $process"; fi
  done
  # Nobody notices the end of another.
  for process in $all; do kill -STOP "$process" 2>/dev/null || :; done
  for process in $all $daemon; do kill -9 "$process" 2>/dev/null || :; done
  rm -f "$OPRUN_SLURM/slurmd-$node.pid"
}

descendants() {
  local child
  for child in $(pgrep -P "$1" || :); do echo "$child" && descendants "$child"; done
}

test_7() {
  lose_node_told
  [ -z "$all" ] || lose_node_untold
}

# A step that runs until its node fails, and a run of it.
run_long() {
  rm -rf ran after made found .oprun
  { header; cat <<'X'
steps:
  - id: long
    run: |
      [ ! -e made/half ] || touch found
      mkdir -p made && echo half >made/half
      echo $SLURMD_NODENAME >>ran
      [ "$(wc -l <ran)" -gt 1 ] || sleep 300
    cache: {inputs: [], outputs: [made/half], env: [SLURMD_NODENAME], enforce: false}
  - {id: after, depends_on: [long], run: touch after}
X
  } >p.yml
  "$program" run p.yml --output quiet >out 2>&1 &
  run=$!
  eventually 20 has_lines ran 1
  node=$(head -n 1 ran)
  kill_node "$node"
}

check_long() {
  wait $run
  [ "$(sed -n 2p ran)" != "$node" ] || fail "it ran on the same node"
  [ ! -e found ] || fail "the second start found what the first one had left"
  [ -e after ] && expect runs "$(wc -l <ran)" 2
}

# Somebody tells Slurm that the node is down.
lose_node_told() {
  dirty
  local run node start
  run_long
  start=$SECONDS
  scontrol update NodeName="$node" State=DOWN Reason=test
  eventually 20 has_lines ran 2
  figure "told that the node is down: $((SECONDS - start)) s until it ran again"
  at_most "seconds until it ran again" $((SECONDS - start)) 10
  check_long
}

# Slurm finds out by itself.
lose_node_untold() {
  local run node start
  "$here/start.sh" >/dev/null
  run_long
  start=$SECONDS
  eventually 90 has_lines ran 2
  figure "not told: $((SECONDS - start)) s until it ran again"
  at_most "seconds until it ran again" $((SECONDS - start)) 60
  check_long
}

test_8() {
  dirty
  { header; cat <<'X'
steps:
  - {id: fill, priority: high, run: "sleep 25", resources: {cpus: 8}}
  - id: long
    run: |
      echo $SLURMD_NODENAME >>ran
      [ "$(wc -l <ran)" -gt 1 ] || sleep 120
  - {id: after, depends_on: [long], run: touch after}
X
  } >p.yml
  "$program" submit p.yml -- --nodes=4 --exclusive --no-kill --output=job.out
  local node
  eventually 20 has_lines ran 1
  node=$(head -n 1 ran)
  kill_node "$node"
  timeout 5 scontrol update NodeName="$node" State=DOWN Reason=test
  eventually 60 test -e after
  cat job.out >&2
  expect runs "$(wc -l <ran)" 2
  [ "$(sed -n 2p ran)" != "$node" ] || fail "it ran on the same node"
  [ ! -e found ] || fail "the second start found what the first one had left"
}

test_26() {
  cp -r "$here/../../Pipelines/cluster.yml" p.yml
  expect status "$(status_of oprun run p.yml --param below=10000)" 0
  grep -q 'there are 1229 prime numbers below 10000' out
  submitted --nodes=2
  grep -q 'there are 9592 prime numbers below 100000' job.out
}

test_25() {
  { header; cat <<'X'
steps:
  - {id: fill, priority: high, run: "sleep 300", resources: {cpus: 8}}
  - id: far
    stop: {grace: 3s}
    run: |
      trap 'echo asked; exit 0' TERM
      setsid sh -c 'echo $$ >hidden; exec sleep 300' &
      while [ ! -s hidden ]; do sleep 0.1; done
      echo $SLURMD_NODENAME >far
      # Slurm signals processes one by one, a child perhaps before its parent.
      while :; do sleep 0.1 || :; done
X
  } >p.yml
  "$program" submit p.yml -- --nodes=2 --exclusive --output=job.out
  eventually 20 has_lines far 1
  "$program" cancel
  eventually 20 eval '[ -z "$(squeue -h --me)" ]'
  cat job.out >&2
  expect "the log" "$("$program" logs last far | tail -n 1)" asked
  if kill -0 "$(cat hidden)" 2>/dev/null; then fail "something is left"; fi
}

test_27() {
  { header; echo "steps: [{id: long, run: 'echo begun; touch begun; sleep 120'}]"; } >p.yml
  "$program" submit p.yml -- --output=job.out
  eventually 20 test -e begun
  eventually 20 eval 'test -S .oprun/runs/*/@control'
  # As another machine sees it, nobody listens there.
  rm .oprun/runs/*/@control
  python3 -c 'import os, socket, sys; os.chdir(sys.argv[1]); socket.socket(socket.AF_UNIX).bind("@control")' .oprun/runs/*
  "$program" status | grep -q '1 running'
  "$program" cancel
  eventually 20 eval '[ -z "$(squeue -h --me)" ]'
  cat job.out >&2
  expect "the log" "$("$program" logs last long)" begun
}

test_28() {
  { header; cat <<'X'
steps:
  - {id: wide, matrix: {n: [1, 2, 3, 4, 5, 6]}, run: "sleep 2"}
  - {id: large, matrix: {n: [1, 2]}, resources: {memory: 100G}, run: "sleep 1"}
  - id: train
    matrix: {n: [1, 2, 3]}
    resources: {gpus: 1}
    run: |
      echo "$CUDA_VISIBLE_DEVICES" >>gpus
      sleep 2
X
  } >p.yml
  sed -i '/^max_parallel/d' p.yml
  # Each of these limits would make srun give a step everything, and let the next one wait.
  submitted --nodes=2 --exclusive --mem=4000 --gpus-per-node=2
  expect GPUs "$(grep -cE '^[01]$' gpus)" 3
  figure "$(run_seconds) s"
  at_most seconds "$(run_seconds)" 5
}

test_9() {
  dirty
  { header; cat <<'X'
steps:
  - id: long
    run: |
      echo $SLURMD_NODENAME >>ran
      own=$(wc -l <ran)
      echo "n=$own" >>$OPRUN_OUTPUT
      if [ $own = 1 ]; then
        until [ "$(wc -l <ran)" -gt 1 ]; do sleep 0.1; done
        sleep 3
      else
        sleep 8
      fi
      echo $own >>ended
  - {id: after, depends_on: [long], env: {N: '${{ steps.long.outputs.n }}'}, run: 'echo $N >>after'}
X
  } >p.yml
  "$program" run p.yml --output quiet >out 2>&1 &
  local run=$! node
  eventually 20 has_lines ran 1
  node=$(head -n 1 ran)
  kill -9 "$(cat "$OPRUN_SLURM/slurmd-$node.pid")"
  # Slurm itself must find out.
  eventually 90 has_lines ran 2
  wait $run
  expect "the copies that ended" "$(tr '\n' ' ' <ended)" "1 2 "
  expect "the result that counts" "$(cat after)" 2
}

test_10() {
  dirty
  { header; echo "steps:"; for index in $(seq 20); do echo "  - {id: s$index, run: 'echo \$SLURM_JOB_ID >>ran.$index; sleep 5'}"; done; } >p.yml
  "$program" run p.yml --output quiet >out 2>&1 &
  local run=$!
  eventually 20 eval '[ "$(squeue -h --me -t all 2>/dev/null | wc -l)" -ge 20 ]'
  sleep 1
  kill -9 "$(cat "$OPRUN_SLURM/slurmctld.pid")"
  sleep 1
  "$here/start.sh" >/dev/null
  limit=180
  eventually 180 eval "! kill -0 $run"
  wait $run
  expect "steps that ran" "$(ls ran.* | wc -l)" 20
}

# Faults at random while a graph runs.
test_11() {
  dirty
  local layers=10 width=30 run
  faults=0 kills=0 hits=0
  figure "seed $seed"
  RANDOM=$seed
  pause=5 graph $layers $width >p.yml
  chaos_run
  while [ $faults -lt 15 ] || [ $kills -lt 10 ]; do
    sleep 0.$((RANDOM % 9))
    kill -0 $run 2>/dev/null || { wait $run && break; chaos_run; }
    # What is left to be done, in any order.
    if [ $((RANDOM % (25 - kills - (faults < 15 ? faults : 15)))) -lt $((10 - kills)) ]; then
      kill_oprun
    else
      case $((RANDOM % 4)) in
        0 | 1) fault_node n$((RANDOM % 4 + 1)) ;;
        2) fault_controller TERM ;;
        3) fault_controller KILL ;;
      esac
    fi
  done
  wait $run || :
  expect status "$(limit=300 status_of oprun run p.yml --resume --output quiet)" 0
  check_graph $((layers * width)) $((layers * width + hits))
  figure "$faults faults of nodes and the controller, $kills kills of oprun: $(($(cat ran/* | wc -l) - layers * width))" \
    "steps ran again, $hits were hit"
  [ $faults -ge 15 ] && [ $kills -ge 10 ] || fail "the run was over too early: $faults faults, $kills kills"
}

chaos_run() {
  "$program" run p.yml --resume --output quiet >>out 2>&1 &
  run=$!
}

kill_oprun() {
  if kill -9 $run 2>/dev/null; then kills=$((kills + 1)); fi
  wait $run 2>/dev/null || :
  chaos_run
}

# The steps that may have to run again: they have begun, and were not done for long when this was asked. NODE: on this one.
count_hits() {
  local file name count=0
  for file in ran/*; do
    name=${file#ran/}
    [ -z "${1:-}" ] || [ "$(sed -n '$s/ .*//p' "$file")" = "$1" ] || continue
    if [ ! -e "done/$name" ] || [ -n "$(find "done/$name" -newermt '-2 seconds')" ]; then count=$((count + 1)); fi
  done
  echo $count
}

fault_node() {
  [ -e "$OPRUN_SLURM/slurmd-$1.pid" ] || return 0
  kill_node "$1"
  hits=$((hits + $(count_hits "$1")))
  timeout 5 scontrol update NodeName="$1" State=DOWN Reason=chaos || :
  sleep 1
  "$here/start.sh" >/dev/null 2>&1 || :
  faults=$((faults + 1))
}

# TERM loses nothing. After KILL Slurm may have forgotten jobs, and ends what it finds of them.
fault_controller() {
  kill -"$1" "$(cat "$OPRUN_SLURM/slurmctld.pid")" 2>/dev/null || :
  [ "$1" = TERM ] || hits=$((hits + $(count_hits)))
  sleep 2
  "$here/start.sh" >/dev/null 2>&1 || :
  faults=$((faults + 1))
}

test_5() {
  wrap sbatch 'exec "$real" "$@"'
  local count=80 status most
  [ -z "$all" ] || count=980
  { header; cat <<X
steps:
  - {id: many, matrix: {n: [$(seq -s, $count)]}, run: 'echo \$SLURM_ARRAY_JOB_ID >>many'}
  - id: few
    matrix: {n: [$(seq -s, 20)]}
    max_parallel: 3
    resources: {cpus: 2}
    run: |
      mkdir -p on; touch on/\$SLURM_JOB_ID
      ls on | wc -l >>counts
      sleep 0.5; rm on/\$SLURM_JOB_ID; echo \$SLURM_ARRAY_JOB_ID >>few
X
  } >p.yml
  status=$(PATH=$PWD/bin:$PATH limit=300 status_of oprun run p.yml --output quiet)
  expect status "$status" 0
  expect "jobs of the first matrix" "$(wc -l <many)" "$count"
  expect "jobs of the second" "$(wc -l <few)" 20
  expect submissions "$(wc -l <calls.sbatch)" 2
  expect arrays "$(sort -u many few | wc -l)" 2
  most=$(sort -n counts | tail -n 1)
  figure "$((count + 20)) jobs, 2 submissions, at most $most at once"
  at_most "jobs at once" "$most" 3
}

waits_in_queue() { [ "$(squeue --noheader --states=PENDING | wc -l)" = 1 ]; }

test_30() {
  [ "$(id -u)" = 0 ] || cannot_run "mounting needs root"
  local start=$SECONDS
  { header | sed 's/file_wait: 5s/file_wait: 5m/'; echo "steps: [{id: a, run: 'true'}]"; } >p.yml
  cp p.yml /tmp/oprun-unshared.$$.yml
  # Nodes see what is below the new file system.
  # shellcheck disable=SC2016
  unshare -m sh -c 'mount -t tmpfs none "$1" && cd "$1" && cp "$3" p.yml && "$2" run p.yml' \
    - "$PWD" "$program" /tmp/oprun-unshared.$$.yml >/tmp/oprun-unshared.$$ 2>&1 && fail "it succeeded"
  cat /tmp/oprun-unshared.$$ >&2
  grep -q 'must be on a file system that all nodes share' /tmp/oprun-unshared.$$
  rm /tmp/oprun-unshared.$$ /tmp/oprun-unshared.$$.yml
  # Where it is shared, a job that cannot start says why.
  { header; echo "steps: [{id: a, run: 'true'}]"; } >p.yml
  scontrol update PartitionName=main State=DOWN
  "$program" run p.yml >said 2>&1 &
  local run=$! job
  eventually 20 waits_in_queue
  job=$(squeue --noheader --format=%A --states=PENDING)
  rm .oprun/runs/*/@node/oprun
  scontrol update PartitionName=main State=UP
  wait $run && fail "it succeeded without its program"
  cat said >&2
  grep -q "job $job ended without a result: .*oprun: not found" said
  figure "$((SECONDS - start)) s"
  at_most seconds $((SECONDS - start)) 40
}

test_31() {
  expect status "$(status_of oprun doctor --executor slurm -- --partition=main)" 0
  grep -q 'shared directory: .* sees it' out
  expect status "$(status_of oprun doctor --executor slurm -- --partition=nope)" 1
  grep -q 'nvalid partition' out
  "$program" doctor --executor slurm --json >json && python3 -c 'import json; assert json.load(open("json"))["ok"]'
  expect "a machine without Slurm" "$(status_of env PATH=/nowhere "$program" doctor --executor slurm)" 1
  grep -q "not installed: 'sbatch'" out
}

# As on another machine: processes of nodes are not seen, only files.
elsewhere() {
  if [ "$(id -u)" = 0 ]; then unshare --pid --fork --mount-proc sh -c '"$@"; exit $?' - "$@"; else "$@"; fi
}

# Starts a run of p.yml, and kills its oprun when its step has begun once more.
begin_and_die() { # how often it will have begun then
  elsewhere "$program" run p.yml --output quiet >>out 2>&1 &
  local all=$! run
  eventually 20 has_lines ran "$1"
  run=$(pgrep -P $all)
  if [ "$(id -u)" = 0 ]; then run=$(pgrep -P "$run"); fi
  kill -9 $run
  wait $all 2>/dev/null || :
}

test_32() {
  [ "$(id -u)" = 0 ] || cannot_run "hiding processes needs root"
  { header; cat <<'X'
steps:
  - id: far
    stop: {grace: 3s}
    run: |
      [ "$(cat state)" != busy ] || touch overlap
      echo busy >state
      trap 'echo idle >state; echo ended >>ended; exit 0' TERM
      echo begun >>ran
      # Slurm signals processes one by one, a child perhaps before its parent.
      until [ -e short ]; do sleep 0.1 || :; done
      echo idle >state
X
  } >p.yml
  inside() {
    set -e
    echo idle >state
    begin_and_die 1
    # It goes on until somebody ends it.
    expect steps "$(squeue -h --steps --me -o %j | grep -c 'far.oprun:')" 1
    sed -i 's/-e short/-n "$PATH"/' p.yml
    expect status "$(status_of elsewhere "$program" resume)" 0
    grep -q '1 step or job that .* had left in Slurm was ended' out
    expect runs "$(wc -l <ran)" 2
    expect "ended in order" "$(wc -l <ended)" 1
    expect state "$(cat state)" idle
    [ ! -e overlap ]
    sed -i 's/-n "$PATH"/-e short/' p.yml
    begin_and_die 3
    expect status "$(status_of elsewhere "$program" cancel)" 0
    grep -q '1 step or job that run .* had left in Slurm was ended' out
    expect "steps that are left" "$(squeue -h --steps --me -o %j | grep -c 'far.oprun:' || :)" 0
    expect "ended in order" "$(wc -l <ended)" 2
    expect "what is left to cancel" "$(status_of "$program" cancel)" 4
  }
  export -f inside begin_and_die elsewhere eventually has_lines expect status_of fail
  export program
  salloc --quiet --nodes=2 --exclusive bash -c inside
}

test_34() {
  { header; cat <<'X'
steps:
  - {id: fill, priority: high, run: "sleep 25", resources: {cpus: 8}}
  - id: far
    run: |
      echo $SLURM_STEP_ID >>ran
      sleep 12
      echo done >far
X
  } >p.yml
  "$program" submit p.yml -- --nodes=3 --exclusive --output=job.out
  eventually 20 has_lines ran 1
  local process all=()
  # A child of srun, which would end the step if it outlived srun, goes first.
  for process in $(pgrep -x srun | sort -rn); do
    grep -qz "^OPRUN_SLURM=$OPRUN_SLURM\$" "/proc/$process/environ" 2>/dev/null || continue
    all+=("$process")
  done
  kill -9 "${all[@]}"
  eventually 60 eval '[ -z "$(squeue -h --me)" ]'
  cat job.out >&2
  expect runs "$(wc -l <ran)" 1
  expect "what it made" "$(cat far)" done
  grep -q '2 ok' job.out
}

test_33() {
  { header; cat <<'X'
steps:
  - {id: runs, run: "echo begun >>ran; sleep 120"}
  - {id: waits, run: "echo begun >>ran; sleep 120", resources: {cpus: 99}}
X
  } >p.yml
  begin_and_die 1
  eventually 10 eval '[ "$(squeue -h -r --me | wc -l)" = 2 ]'
  expect status "$(status_of elsewhere "$program" cancel)" 0
  grep -q '2 steps and jobs that run .* had left in Slurm were ended' out
  eventually 10 eval '[ -z "$(squeue -h -r --me)" ]'
  # What was cancelled is submitted anew.
  sed -i "s/sleep 120/true/; s/cpus: 99/cpus: 1/" p.yml
  expect status "$(status_of oprun resume)" 0
  expect runs "$(wc -l <ran)" 3
}

test_29() {
  { echo "slurm: {poll: 1s}"; echo "steps: [{id: a, run: 'echo \$SLURM_JOB_ID >>jobs; [ -e there ]'}]"; } >p.yml
  expect status "$(status_of oprun run p.yml --executor slurm)" 1
  touch there
  expect status "$(status_of oprun resume)" 0
  expect jobs "$(grep -c '[0-9]' jobs)" 2
}

test_12() {
  { header; cat <<'X'
steps:
  - {id: long, run: 'echo "${SLURM_ARRAY_JOB_ID:-$SLURM_JOB_ID}${SLURM_ARRAY_TASK_ID:+_$SLURM_ARRAY_TASK_ID}" >job; sleep 120'}
  - {id: after, depends_on: [long], run: touch after}
  - {id: other, run: "sleep 3; touch other"}
X
  } >p.yml
  "$program" run p.yml --output quiet >out 2>&1 &
  local run=$! start status=0
  eventually 20 has_lines job 1
  eventually 10 eval '"$program" status >status && grep -qE "^> long .*, job [0-9_]+ on n[1-4]" status'
  start=$SECONDS
  scancel "$(cat job)"
  wait $run || status=$?
  cat out >&2
  figure "$((SECONDS - start)) s until all was over"
  at_most seconds $((SECONDS - start)) 15
  expect status $status 1
  grep -q 'cancelled' out
  [ -e other ] && [ ! -e after ]
}

test_13() {
  dirty
  "$here/stop.sh"
  start_cluster MinJobAge=10
  { header; cat <<'X'
steps:
  - {id: a, run: "sleep 3; exit 6", allow_failure: true}
  - {id: b, run: "sleep 3; echo b=2 >>$OPRUN_OUTPUT"}
  - {id: after, depends_on: [a, b], env: {B: '${{ steps.b.outputs.b }}'}, run: 'echo $B >after'}
X
  } >p.yml
  "$program" run p.yml --output quiet >out 2>&1 &
  local run=$!
  eventually 20 eval '[ "$(squeue -h --me -t running | wc -l)" = 2 ]'
  kill -STOP $run
  sleep 60
  expect "jobs that Slurm remembers" "$(squeue -h --me -t all | wc -l)" 0
  kill -CONT $run
  wait $run
  expect outputs "$(cat after)" 2
  expect outcome "$(outcome a)" failed
}

test_14() {
  dirty
  { header; cat <<'X'
steps:
  - {id: a, run: "sleep 5"}
  - {id: b, depends_on: [a], run: "touch b"}
X
  } >p.yml
  "$program" run p.yml >out 2>&1 &
  local run=$! start
  eventually 20 eval '[ "$(squeue -h --me -t running | wc -l)" = 1 ]'
  kill "$(cat "$OPRUN_SLURM/slurmctld.pid")"
  sleep 60
  kill -0 $run
  "$here/start.sh" >/dev/null
  start=$SECONDS
  wait $run
  cat out >&2
  figure "$((SECONDS - start)) s after the return of the controller"
  at_most "seconds after the return" $((SECONDS - start)) 15
  expect "times it was said" "$(grep -c 'Slurm does not answer' out)" 1
  [ -e b ]
}

test_15() {
  dirty
  "$here/stop.sh"
  start_cluster PreemptType=preempt/partition_prio PreemptMode=REQUEUE
  { header; cat <<'X'
steps:
  - id: long
    run: |
      echo $SLURM_RESTART_COUNT >>ran
      [ "$(wc -l <ran)" -gt 1 ] || sleep 120
X
  } >p.yml
  "$program" run p.yml --output quiet >out 2>&1 &
  local run=$!
  eventually 20 has_lines ran 1
  sbatch --quiet --partition=urgent --nodes=4 --exclusive --output=/dev/null --wrap 'sleep 3'
  eventually 40 has_lines ran 2
  wait $run
}

test_16() {
  { header; cat <<'X'
steps:
  - {id: long, run: "sleep 300", resources: {time: 1m}}
X
  } >p.yml
  local start=$SECONDS
  limit=150
  expect status "$(status_of oprun run p.yml --output quiet)" 1
  figure "$((SECONDS - start)) s"
  at_most seconds $((SECONDS - start)) 110
  grep -qi 'time limit' out
}

test_17() {
  { header; cat <<'X'
steps:
  - {id: partition, run: "true", slurm: {partition: nope}}
  - {id: memory, run: "true", resources: {memory: 9000}}
  - {id: feature, run: "true", slurm: {constraint: nope}}
X
  } >p.yml
  expect status "$(status_of oprun run p.yml --output quiet)" 1
  for step in partition memory feature; do expect "$step" "$(outcome $step)" failed; done
  grep -q 'nvalid partition' out
  # Slurm takes these, and lets them wait for ever.
  { header; cat <<'X'
steps:
  - {id: cpus, run: "true", resources: {cpus: 99}}
  - {id: time, run: "true", resources: {time: 2d}}
  - {id: gpus, run: "true", resources: {gpus: 3}, slurm: {extra: [--nodes=1]}, allow_failure: true}
X
  } >q.yml
  "$program" run q.yml >waits 2>&1 &
  local run=$!
  eventually 10 grep -q "'cpus' waits.*PartitionConfig" waits
  eventually 10 grep -q "'time' waits.*PartitionTimeLimit" waits
  kill -INT $run
  wait $run || :
  cat waits >&2
  grep -q "node configuration is not available" waits
}

test_18() {
  { header; cat <<'X'
steps:
  - id: train
    matrix: {n: [1, 2, 3]}
    resources: {gpus: 1}
    slurm: {extra: [--nodelist=n1]}
    run: |
      mkdir "on.$CUDA_VISIBLE_DEVICES"
      ls -d on.* | wc -l >>counts
      sleep 2
      rmdir "on.$CUDA_VISIBLE_DEVICES"
X
  } >p.yml
  expect status "$(status_of oprun run p.yml --output quiet)" 0
  expect "most at once" "$(sort -n counts | tail -n 1)" 2
}

test_19() {
  { header; echo "steps:"; echo "  - id: many"; echo "    matrix: {n: [$(seq -s, 200)]}"; echo "    run: sleep 120"; } >p.yml
  "$program" run p.yml --output quiet >out 2>&1 &
  local run=$! start status=0
  eventually 30 eval '[ "$(squeue -h -r --me | wc -l)" -ge 200 ]'
  start=$SECONDS
  kill -INT $run
  wait $run || status=$?
  expect status $status 130
  eventually 10 eval '[ -z "$(squeue -h --me)" ]'
  figure "$((SECONDS - start)) s until the queue was empty"
  at_most seconds $((SECONDS - start)) 20
}

# A command of Slurm that is counted, and may be told to misbehave: NAME, BODY.
wrap() {
  mkdir -p bin
  : >"calls.$1"
  { echo '#!/bin/bash'; echo "real=$(command -v "$1")"; echo "echo \"\$*\" >>'$PWD/calls.$1'"; echo "$2"; } >"bin/$1"
  chmod +x "bin/$1"
}

test_20() {
  wrap squeue 'exec "$real" "$@"'
  local layers=5 width=40
  [ -z "$all" ] || { layers=10 width=100; }
  pause=1 graph $layers $width >p.yml
  sed -i 's/poll: 1s/poll: 5s/' p.yml
  local start=$SECONDS status
  status=$(PATH=$PWD/bin:$PATH status_of oprun run p.yml --output quiet)
  expect status "$status" 0
  figure "$(wc -l <calls.squeue) looks at the queue in $((SECONDS - start)) s"
  at_most "looks at the queue" "$(wc -l <calls.squeue)" $((3 + (SECONDS - start) / 4))
  if grep -qE -- '(-j|--jobs|--json)' calls.squeue; then fail "looked by ids: $(head -n 1 calls.squeue)"; fi
}

test_21() {
  wrap sbatch '"$real" "$@" >answer.$$; [ -e lost ] && { cat answer.$$; exit 0; }
touch lost; echo "sbatch: error: Batch job submission failed: Zero Bytes were transmitted or received" >&2; exit 1'
  { header; echo "steps: [{id: a, run: 'echo ran >>ran; sleep 2'}]"; } >p.yml
  expect status "$(PATH=$PWD/bin:$PATH status_of oprun run p.yml --output quiet)" 0
  expect runs "$(wc -l <ran)" 1
  [ -n "$all" ] || return 0
  # One that submits, and never answers.
  rm -r ran lost bin .oprun
  wrap sbatch '[ -e lost ] && exec "$real" "$@"
touch lost; "$real" "$@"; exec sleep 300'
  expect status "$(PATH=$PWD/bin:$PATH status_of oprun run p.yml --output quiet)" 0
  expect runs "$(wc -l <ran)" 1
  at_most seconds "$(run_seconds)" 90
}

test_22() {
  { header; cat <<'X'
steps:
  - {id: first, run: "sleep 8", slurm: {extra: [--exclusive, --nodes=4]}}
X
    local name
    for name in low:low high:high normal:normal very:very_high; do
      echo "  - {id: ${name%:*}, priority: ${name#*:}, run: 'echo ${name%:*} >>order; sleep 2', slurm: {extra: [--exclusive, --nodes=4]}}"
    done
  } >p.yml
  expect status "$(status_of oprun run p.yml --output quiet)" 0
  expect order "$(tr '\n' ' ' <order)" "very high normal low "
}

test_23() {
  dirty
  "$here/stop.sh"
  DB=1 start_cluster
  { header; cat <<'X'
steps:
  - {id: six, run: "echo $SLURM_JOB_ID >six; sleep 5; exit 6", allow_failure: true}
  - {id: zero, run: "sleep 5"}
  - {id: seven, depends_on: [six, zero], run: exit 7}
X
  } >p.yml
  "$program" run p.yml --output quiet >out 2>&1 &
  local run=$! status=0 code
  eventually 20 has_lines six 1
  kill -9 "$(cat "$OPRUN_SLURM/slurmdbd.pid")"
  wait $run || status=$?
  cat out >&2
  expect status $status 1
  for code in six:6 zero:0 seven:7; do expect "${code%:*}" "$(exit_code "${code%:*}")" "${code#*:}"; done
  DB=1 "$here/start.sh" >/dev/null
  figure "what Slurm's database says of a job that exited with 6: $(timeout 10 sacct -n -X -P -j "$(cat six)" -o State,ExitCode)"
}

# The exit status of a step in the last run.
exit_code() {
  "$program" show last --json | python3 -c '
import json, sys
run = json.load(sys.stdin)
print(next(result["exit_code"] for result in run["results"] if result["step"] == sys.argv[1]))' "$1"
}

# This script once more, with a cluster and oprun of a user that has no rights.
test_24() {
  local copy
  copy=$(mktemp -d "${TMPDIR:-/tmp}/oprun-user.XXXXXX")
  # shellcheck disable=SC2064
  trap "rm -rf '$copy'" EXIT
  mkdir -p "$copy/Scripts" "$copy/Pipelines" "$copy/tmp"
  cp -r "$here" "$here/../test-slurm" "$copy/Scripts"
  cp "$here/../../Pipelines/cluster.yml" "$copy/Pipelines"
  cp "$program" "$copy/oprun"
  chown -R nobody:nogroup "$copy"
  setpriv --reuid=nobody --regid=nogroup --clear-groups \
    env -i PATH="$PATH" HOME="$copy/tmp" TMPDIR="$copy/tmp" USER=nobody CI=1 \
    timeout 900 "$copy/Scripts/test-slurm" --with 4,22 "$copy/oprun"
}

# No job of ours waits or runs.
no_jobs() { [ -z "$(squeue -h --me)" ]; }

state_of_last() {
  "$program" history --limit 1 --json | python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["state"])'
}

test_35() {
  local round
  { header; cat <<'X'
steps:
  - {id: a, run: 'echo a >>ran', on_success: 'echo a-success >>hooks', on_cancel: 'echo a-cancel >>hooks'}
  - {id: b, depends_on: [a], run: 'echo b >>ran'}
  - {id: c, depends_on: [b], executor: local, run: 'echo c >>ran'}
on_cancel: echo cancel >>hooks
on_complete: echo complete >>hooks
X
  } >p.yml
  expect "status of the first round" "$(status_of oprun run p.yml --detach)" 0
  grep -q '1 job continues in Slurm' out || fail "nothing says that a job continues"
  for round in 1 2; do
    expect "state after round $round" "$(state_of_last)" left
    eventually 30 has_lines ran $round
    eventually 30 no_jobs
    expect "status of round $((round + 1))" "$(status_of oprun resume --detach)" 0
  done
  expect "state at last" "$(state_of_last)" succeeded
  expect order "$(tr '\n' ' ' <ran)" "a b c "
  expect hooks "$(tr '\n' ' ' <hooks)" "a-success complete "
  expect "homes that are left" "$(find .oprun -name journal | wc -l)" 0
}

test_36() {
  { header; cat <<'X'
steps:
  - id: a
    run: |
      word=$(cat in)
      trap 'sleep 2; echo $word >out; exit 1' TERM
      [ $word = one ] || { touch begun; sleep 100 & wait; }
      echo $word >out
    cache: {inputs: [in], outputs: [out], enforce: false}
X
  } >p.yml
  echo one >in
  expect "status of the first run" "$(status_of oprun run p.yml)" 0
  echo two >in
  expect "status of the run that detaches itself" "$(status_of oprun run p.yml --detach)" 0
  eventually 30 test -e begun
  echo one >in
  expect "status of the resumed run" "$(status_of oprun resume)" 0
  eventually 30 no_jobs
  expect output "$(cat out)" one
  expect outcome "$(outcome a)" cached
}
