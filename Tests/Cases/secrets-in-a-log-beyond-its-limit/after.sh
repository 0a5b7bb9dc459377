log=$(echo .oprun/runs/*/a.1.log)
head -2 "$log"
grep 'dropped here' "$log"
tail -2 "$log"
wc -c < "$log"
! grep -c hunter "$log"
