grep -r 'correct horse' .oprun && echo leaked || echo 'no secret is left'
ls .oprun/runs/*
