#!/usr/bin/env bash
# Start a one-machine Slurm cluster of N virtual nodes on loopback (Debian 12; as root, or as a plain user once the
# packages are installed). Idempotent: what already runs is left running, what died is started again, a node left
# down or drained is resumed. Prints the line to eval:   eval "$(NODES=4 ./start.sh)"
#   NODES=4 CPUS=8 MEM=8000 GPUS=2   per virtual node (fake: may exceed the machine's; Slurm only counts them)
#   OPRUN_SLURM=/var/lib/oprun-slurm CTLPORT=16817 NODEPORT=17000 NODETIMEOUT=20
#   EXTRA_CONF=$'MinJobAge=10\n...'  slurm.conf lines that replace those of slurm.conf.in
#   SCHED=default_queue_depth=100    scheduling as of a site that tuned nothing: a job starts after 2.6 s
#   DB=1                             also MariaDB + slurmdbd, so that sacct works (root only)
set -euo pipefail
DIR=${OPRUN_SLURM:-/var/lib/oprun-slurm}
NODES=${NODES:-4} CPUS=${CPUS:-8} MEM=${MEM:-8000} GPUS=${GPUS:-2} DB=${DB:-0}
CTLPORT=${CTLPORT:-16817} NODEPORT=${NODEPORT:-17000} NODETIMEOUT=${NODETIMEOUT:-20}
SCHED=${SCHED:-sched_min_interval=100000,batch_sched_delay=0,bf_interval=5}
EXTRA_CONF=${EXTRA_CONF:-}
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
HOST=$(hostname -s)
say() { echo "slurm-start: $*" >&2; }
have() { local c; for c in "$@"; do command -v "$c" >/dev/null 2>&1 || return 1; done; }
alive() { # pidfile, command: a live process of that name (a zombie is not alive: nothing here may reap it)
  [ -s "$1" ] && case "$(ps -o stat=,comm= -p "$(cat "$1")" 2>/dev/null)" in Z*) false ;; *" $2") true ;; *) false ;; esac
}
PATH=$PATH:/usr/sbin

# 1. packages (none of their daemons is started: this machine has no init, and policy-rc.d says no)
need=""
have slurmctld slurmd sbatch munged || need="slurmctld slurmd slurm-client munge"
if [ "$DB" = 1 ]; then
  have mariadbd slurmdbd && ls /usr/lib/*/slurm*/accounting_storage_mysql.so >/dev/null 2>&1 ||
    need="$need mariadb-server slurmdbd slurm-wlm-mysql-plugin"
fi
if [ -n "$need" ]; then
  say "installing $need"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq >/dev/null
  # shellcheck disable=SC2086
  apt-get install -y -qq --no-install-recommends $need >/dev/null
fi

# 2. directories, key, configuration
mkdir -p "$DIR"/{munge,state,spool,log}
chmod 755 "$DIR"; chmod 711 "$DIR/munge"
if [ ! -s "$DIR/munge/munge.key" ]; then
  (umask 077; head -c 128 /dev/urandom >"$DIR/munge/munge.key")
fi
lines=""; gres=""; gresline=""
if [ "$GPUS" -gt 0 ]; then gres="Gres=gpu:$GPUS"; fi
for i in $(seq 1 "$NODES"); do
  mkdir -p "$DIR/spool/n$i"
  feat="cpu"; [ $((i % 2)) = 0 ] && feat="cpu,even"
  lines+="NodeName=n$i NodeHostname=$HOST NodeAddr=127.0.0.1 Port=$((NODEPORT + i)) CPUs=$CPUS RealMemory=$MEM $gres Feature=$feat State=UNKNOWN"$'\n'
done
# fake GPUs: a device node stands for each (Slurm drops GPUs without a device file); a user who may
# not mknod gets /dev/null, /dev/zero, /dev/full, /dev/random in that order
fakes=(/dev/null /dev/zero /dev/full /dev/random)
for g in $(seq 0 $((GPUS - 1))); do
  f=$DIR/nvidia$g
  [ -c "$f" ] || mknod "$f" c 1 3 2>/dev/null || f=${fakes[$((g % 4))]}
  gresline+="Name=gpu File=$f Flags=nvidia_gpu_env"$'\n'
done
if [ "$DB" = 1 ]; then
  EXTRA_CONF+=$'\n'"AccountingStorageType=accounting_storage/slurmdbd"$'\n'"AccountingStorageHost=127.0.0.1"
  EXTRA_CONF+=$'\n'"AccountingStoragePort=$((CTLPORT + 2))"$'\n'"AccountingStoragePass=$DIR/munge/munge.socket"
  EXTRA_CONF+=$'\n'"AccountingStoreFlags=job_comment"
fi
conf=$(<"$HERE/slurm.conf.in")
for v in DIR NODES HOST CTLPORT NODETIMEOUT SCHED; do conf=${conf//@$v@/${!v}}; done
conf=${conf//@USER@/$(id -un)}; conf=${conf//@NODELINES@/$lines}
while IFS= read -r l; do
  [ -n "$l" ] || continue
  conf=$(grep -v "^${l%%=*}=" <<<"$conf" || true)
  conf+=$'\n'$l
done <<<"$EXTRA_CONF"
printf '%s\n' "$conf" >"$DIR/slurm.conf"
printf '%s\n' "$gresline" >"$DIR/gres.conf"
# slurmd 22.05 always loads a cgroup plugin, though nothing here uses it
printf 'CgroupPlugin=autodetect\nIgnoreSystemd=yes\n' >"$DIR/cgroup.conf"
export SLURM_CONF=$DIR/slurm.conf

# 3. daemons; their output goes to a file, so that a caller's pipe is not held open
if ! alive "$DIR/munge/munged.pid" munged; then
  rm -f "$DIR/munge/munge.socket"*
  munged --force --key-file="$DIR/munge/munge.key" --socket="$DIR/munge/munge.socket" \
    --pid-file="$DIR/munge/munged.pid" --log-file="$DIR/munge/munged.log" --seed-file="$DIR/munge/munged.seed" \
    --num-threads=4 </dev/null >>"$DIR/log/start.log" 2>&1
fi
if [ "$DB" = 1 ]; then
  d=$DIR/db
  if [ ! -d "$d/data/mysql" ]; then
    mkdir -p "$d/data" "$d/tmp"; chown -R mysql "$d"
    TMPDIR=$d/tmp mariadb-install-db --user=mysql --datadir="$d/data" --auth-root-authentication-method=normal >>"$DIR/log/start.log" 2>&1
  fi
  if ! alive "$d/m.pid" mariadbd; then
    TMPDIR=$d/tmp setsid mariadbd --no-defaults --user=mysql --datadir="$d/data" --socket="$d/s.sock" --port=$((CTLPORT + 3)) \
      --bind-address=127.0.0.1 --pid-file="$d/m.pid" </dev/null >>"$DIR/log/mariadb.log" 2>&1 &
  fi
  for _ in $(seq 1 100); do mariadb -uroot -S "$d/s.sock" -e 'select 1' >/dev/null 2>&1 && break; sleep 0.1; done
  mariadb -uroot -S "$d/s.sock" -e "create database if not exists slurm_acct_db; create user if not exists
    'slurm'@'127.0.0.1' identified by 'x'; grant all on slurm_acct_db.* to 'slurm'@'127.0.0.1'"
  if ! alive "$DIR/slurmdbd.pid" slurmdbd; then
    (umask 077; cat >"$DIR/slurmdbd.conf" <<X
AuthType=auth/munge
AuthInfo=socket=$DIR/munge/munge.socket
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort=$((CTLPORT + 2))
SlurmUser=$(id -un)
LogFile=$DIR/log/slurmdbd.log
PidFile=$DIR/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort=$((CTLPORT + 3))
StorageUser=slurm
StoragePass=x
StorageLoc=slurm_acct_db
X
    )
    slurmdbd </dev/null >>"$DIR/log/start.log" 2>&1
    for _ in $(seq 1 100); do timeout 3 sacctmgr -n show cluster >/dev/null 2>&1 && break; sleep 0.2; done
    timeout 10 sacctmgr -i add cluster oprun >/dev/null 2>&1 || true
  fi
fi
if ! alive "$DIR/slurmctld.pid" slurmctld; then slurmctld </dev/null >>"$DIR/log/start.log" 2>&1; fi
for i in $(seq 1 "$NODES"); do
  alive "$DIR/slurmd-n$i.pid" slurmd || slurmd -N "n$i" </dev/null >>"$DIR/log/start.log" 2>&1
done

# 4. wait until every node is usable; a node left down or drained by a crash is resumed
up=0; end=$((SECONDS + 30))
while [ $SECONDS -lt $end ]; do
  for n in $(timeout 3 sinfo -h -N -p main -t down,drain -o '%N' 2>/dev/null | sort -u); do
    timeout 3 scontrol update NodeName="$n" State=RESUME >/dev/null 2>&1 || true
  done
  up=$(timeout 3 sinfo -h -N -p main -o '%t' 2>/dev/null | grep -cE '^(idle|mix|alloc|comp)$' || true)
  [ "$up" = "$NODES" ] && break
  sleep 0.2
done
[ "$up" = "$NODES" ] || { say "only $up of $NODES nodes up"; timeout 3 sinfo -N -l >&2 || true; tail -n 20 "$DIR/log/slurmctld.log" >&2; exit 1; }
echo "export SLURM_CONF=$SLURM_CONF"
