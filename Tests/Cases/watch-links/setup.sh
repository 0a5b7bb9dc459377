ln -s pipeline.yml link.yml
