ls .oprun/runs/*
! find .oprun | grep -e hunter2 -e correct-horse || echo leaked
! grep -r -e hunter2 -e correct-horse .oprun || echo leaked
echo searched
