ln -s ../alt src/sub
ln -s ../../src alt/deep/round
