ls .oprun/runs/*
