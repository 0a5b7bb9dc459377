find .oprun -type f -o -type p -o -type l | sed 's/.*\.oprun/.oprun/' | sort; grep -r hunter2 .oprun || echo nothing
