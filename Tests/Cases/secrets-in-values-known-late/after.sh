ls ran* 2>&1
