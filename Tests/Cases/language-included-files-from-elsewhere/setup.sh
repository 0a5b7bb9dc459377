echo 'steps: [{id: b, run: echo}]' >../up.yml
ln -s ../up.yml link.yml
mkdir ../outside
echo 'steps: [{id: c, run: echo}]' >../outside/file.yml
ln -s ../outside folder
