"""Takes TLS off: what comes to PORT of this machine goes on to TARGET, a port that knows none.

    tls_front.py PORT TARGET CERTIFICATE KEY

Prints a line when it listens.
"""
import socket
import ssl
import sys
import threading


def forward(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    for each in (source, target):
        try:
            each.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def serve(client, context, port):
    try:
        client = context.wrap_socket(client, server_side=True)
        target = socket.create_connection(("127.0.0.1", port))
    except OSError:
        client.close()
        return
    threading.Thread(target=forward, args=(client, target), daemon=True).start()
    forward(target, client)


def main():
    port, target, certificate, key = sys.argv[1:]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with socket.create_server(("127.0.0.1", int(port))) as server:
        print("ready", flush=True)
        while True:
            threading.Thread(target=serve, args=(server.accept()[0], context, int(target)), daemon=True).start()


main()
