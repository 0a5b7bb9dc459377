test ! -e out.txt || exit 0
read -r word <in.txt
if [ $word = one ]; then
  echo half >out.txt
  touch begun
  sleep 1000
fi
echo $word >out.txt
