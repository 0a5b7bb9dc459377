oprun validate cycle.yml
