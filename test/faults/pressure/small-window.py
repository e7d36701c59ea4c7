"""Opens clients with a receive window of 2 KiB that send one request and read nothing. Node cannot set the window.

python3 small-window.py PORT COUNT REQUEST
"""

import socket
import sys
import time

port, count, request = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3].encode()
clients = []
for n in range(count):
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    client.connect(("127.0.0.1", port))
    client.sendall(request)
    clients.append(client)
    if n % 100 == 99:
        time.sleep(0.05)  # Node accepts one connection per iteration of the event loop.
print(len(clients), flush=True)
time.sleep(600)  # Until killed.
