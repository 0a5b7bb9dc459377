# Holds a free port and says which; or, with a port and a file, listens there as soon as the file exists.
import os, socket, sys, time

server = socket.socket()
server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
if len(sys.argv) == 1:
    server.bind(("127.0.0.1", 0))
    with open("new", "w") as file:
        file.write(str(server.getsockname()[1]))
    os.rename("new", "port")
    time.sleep(86400)
while not os.path.exists(sys.argv[2]):
    time.sleep(0.02)
server.bind(("127.0.0.1", int(sys.argv[1])))
server.listen()
while True:
    connection = server.accept()[0]
    connection.recv(1000)
    connection.sendall(b"HTTP/1.0 204 No Content\r\n\r\n")
    connection.close()
