"""terminal.py COMMAND...: runs it with a terminal as standard error; prints what it wrote there."""
import os
import pty
import subprocess
import sys

parent, child = pty.openpty()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=child,
                           env={**os.environ, "TERM": "dumb"})
os.close(child)
written = b""
while True:
    try:
        data = os.read(parent, 4096)
    except OSError:  # The other end is closed.
        break
    if not data:
        break
    written += data
ERASE = b"\r\x1b[K"
lines = written.split(ERASE)
print("exit code", process.wait())
for line in lines:
    if line:
        print("line:", line.decode().rstrip())
print("left:", repr(lines[-1].decode()))
