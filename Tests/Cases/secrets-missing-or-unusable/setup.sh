printf '\n' > empty
printf '\377\376\375\374' > binary
printf 'ab\000cd' > nul
head -c 65537 /dev/zero | tr '\000' x > large
