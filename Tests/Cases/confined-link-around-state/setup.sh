mkdir src; ln -s .. src/up; echo file >file
