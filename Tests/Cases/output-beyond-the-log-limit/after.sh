cd .oprun/runs/*/
head -n 3 chatty.1.log
grep -a oprun chatty.1.log
tail -n 2 chatty.1.log
