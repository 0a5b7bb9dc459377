mkdir .oprun && mount -t tmpfs -o nr_inodes=64,mode=700 none .oprun
oprun pipeline.yml --output quiet >/dev/null 2>&1
rm .oprun/runs/*/@lock
number=0
while (: >.oprun/fill$number) 2>/dev/null; do number=$((number + 1)); done
oprun resume
echo $?
oprun prune --keep 0
echo $?
rm .oprun/fill*
touch ok
oprun resume --output quiet
echo $?
