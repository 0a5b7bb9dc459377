wc -lc <out
tail -c 30 out
