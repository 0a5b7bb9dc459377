ln -s /etc/passwd link-out
ln -s data/a.txt link-to-declared
ln -s data link-dir
ln -s link-dir/a.txt link-in
ln -s other.txt link-to-other
