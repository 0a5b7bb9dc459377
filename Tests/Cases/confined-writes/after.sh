find . -name .oprun -prune -o -print | grep -v expected | sort
cat in.txt
find .oprun -name 'tmp.*' -o -name '*.outputs'
