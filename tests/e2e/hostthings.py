#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""hostthings WORKSPACE TMP - things of the host that a sandbox must not reach.

Makes them, prints NAME=value lines and "ready", and holds them until standard
input ends.
"""
import ctypes, os, socket, sys

ws, tmp = sys.argv[1], sys.argv[2]
libc = ctypes.CDLL(None, use_errno=True)
librt = ctypes.CDLL("librt.so.1", use_errno=True)

fifo = os.path.join(ws, "fifo")
os.mkfifo(fifo)
reader = os.open(fifo, os.O_RDWR | os.O_NONBLOCK)	# a reader: only a copy refuses

unix = socket.socket(socket.AF_UNIX)
os.chdir(ws)
unix.bind("sock")
unix.listen(8)
os.symlink("/etc/shadow", "link-to-shadow")

abstract = socket.socket(socket.AF_UNIX)
name = "glove-test-%d" % os.getpid()
abstract.bind("\0" + name)
abstract.listen(8)

tcp = socket.socket()
tcp.bind(("127.0.0.1", 0))
tcp.listen(8)

key = 0x67000000 | (os.getpid() & 0xFFFFFF)
shmid = libc.shmget(key, 4096, 0o1666)
mq = ("/glove-test-%d" % os.getpid()).encode()
mqd = librt.mq_open(mq, os.O_CREAT | os.O_RDWR, 0o666, None)

tmpfile = os.path.join(tmp, "on-the-host")
with open(tmpfile, "w") as f:
    f.write("host\n")

print("TMPFILE=" + tmpfile)
print("ABSTRACT=" + name)
print("PORT=%d" % tcp.getsockname()[1])
print("SHMKEY=%#x" % key)
print("MQ=" + mq.decode())
print("HOSTPID=%d" % os.getpid())
print("ready", flush=True)
try:
    sys.stdin.buffer.read()
finally:
    libc.shmctl(shmid, 0, None)
    librt.mq_unlink(mq)
