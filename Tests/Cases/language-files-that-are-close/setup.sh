echo B=1 >.env
touch parts/a.yml
mkdir config; echo C=1 >config/build.env
