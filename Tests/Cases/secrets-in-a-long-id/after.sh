! find .oprun | grep half-of-it || echo leaked
ls .oprun/runs/*
