ls | grep -v expected
