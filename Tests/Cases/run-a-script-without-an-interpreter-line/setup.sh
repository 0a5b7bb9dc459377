echo 'echo "script $1"' >script
chmod +x script
