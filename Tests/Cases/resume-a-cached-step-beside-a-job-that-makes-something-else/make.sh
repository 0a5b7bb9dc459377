read -r word <in.txt
if [ $word = two ]; then
  trap '' TERM
  touch begun
  until [ -e go ]; do sleep 0.05; done
fi
echo $word >out.txt
