# A Slurm in which a job waits until it is cancelled.
mkdir bin
cat >bin/sbatch <<'X'
#!/bin/sh
for word; do case $word in --job-name=*) echo "${word#*=}" >name;; esac; done
touch job
echo 12
X
cat >bin/squeue <<'X'
#!/bin/sh
echo "ARRAY_JOB_ID|ARRAY_TASK_ID|STATE|REASON|NODELIST|NAME|COMMENT"
[ ! -e job ] || echo "12|N/A|PENDING|Priority||$(cat name)|(null)"
X
printf '#!/bin/sh\nrm -f job\n' >bin/scancel
chmod +x bin/*
