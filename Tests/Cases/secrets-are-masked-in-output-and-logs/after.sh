cat .oprun/runs/*/plain.1.log .oprun/runs/*/pieces.1.log
! grep -r 'hunter2/correct horse\|MIIEow' .oprun || echo leaked
