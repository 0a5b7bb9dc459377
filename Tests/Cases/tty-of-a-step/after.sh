cat .oprun/runs/*/colours.1.log
