ln -s common.yml link.yml; ln -s cycle.yml cycle-link.yml
