# A Slurm that gives each job a number, and keeps it until 'end NUMBER' runs it. 'name' gives runs short names.
mkdir bin slurm
cat >bin/sbatch <<'X2'
#!/bin/sh
cd "$(dirname "$0")/../slurm"
number=$(($(cat last 2>/dev/null || echo 0) + 1))
echo $number >last
for word; do case $word in --job-name=*) echo "${word#*=}" >$number.name;; esac; done
cat >$number.new
mv $number.new $number.job
echo $number
X2
cat >bin/squeue <<'X2'
#!/bin/sh
cd "$(dirname "$0")/../slurm"
case $* in *--steps*) exit;; esac
echo "ARRAY_JOB_ID|ARRAY_TASK_ID|STATE|REASON|NODELIST|NAME|COMMENT"
for file in *.job; do
  [ ! -e $file ] || echo "${file%.job}|N/A|PENDING|Priority||$(cat ${file%.job}.name)|(null)"
done
X2
cat >bin/scancel <<'X2'
#!/bin/sh
cd "$(dirname "$0")/../slurm"
for word; do case $word in [0-9]*) rm -f $word.job; echo "cancelled $word" >>cancelled;; esac; done
X2
cat >bin/end <<'X2'
#!/bin/sh
slurm=$(dirname "$0")/../slurm
SLURM_JOB_ID=$1 SLURM_JOB_NAME=x sh $slurm/$1.job
rm $slurm/$1.job
X2
cat >bin/jobs-left <<'X2'
#!/bin/sh
echo "in the queue: $(squeue | sed 1d | cut -d'|' -f1 | tr '\n' ' ')"
X2
cat >bin/runs <<'X2'
#!/bin/sh
oprun history | awk '{print $1}'
X2
cat >bin/round <<'X2'
#!/bin/bash
list=$(runs 2>/dev/null | tac)
echo "> $*" >round.out
"$@" >>round.out 2>&1
status=$?
list=$( (echo "$list"; runs 2>/dev/null | tac) | awk 'NF && !seen[$0]++' >>names; awk '!seen[$0]++' names)
number=0
for run in $list; do number=$((number + 1)); sed -i "s/\b$run\b/R$number/g" round.out; done
cat round.out
echo "exit $status"
X2
chmod +x bin/*
