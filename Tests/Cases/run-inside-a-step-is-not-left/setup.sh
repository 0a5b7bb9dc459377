# A Slurm that keeps a job until 'end' runs it.
mkdir bin
cat >bin/sbatch <<'X'
#!/bin/sh
for word; do case $word in --job-name=*) echo "${word#*=}" >name;; esac; done
cat >job
echo 12
X
cat >bin/squeue <<'X'
#!/bin/sh
echo "ARRAY_JOB_ID|ARRAY_TASK_ID|STATE|REASON|NODELIST|NAME|COMMENT"
[ ! -e job ] || echo "12|N/A|PENDING|Priority||$(cat name)|(null)"
X
cat >bin/scancel <<'X'
#!/bin/sh
echo "$*" >>cancelled
X
cat >bin/end <<'X'
#!/bin/sh
SLURM_JOB_ID=12 SLURM_JOB_NAME=x sh job
rm job
X
chmod +x bin/*
