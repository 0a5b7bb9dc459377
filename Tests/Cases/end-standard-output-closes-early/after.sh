ls b-was-run
cat .oprun/runs/*/a.1.log | wc -l
