"""Checks that a page of the documentation holds the given files word for word.

check-docs.py PAGE FILE...: of a FILE, what follows the line `// BEGIN`, if it has one."""

import sys

with open(sys.argv[1], encoding="utf-8") as file:
    page = file.read()
missing = False
for name in sys.argv[2:]:
    with open(name, encoding="utf-8") as file:
        text = file.read()
    text = text.rpartition("// BEGIN\n")[2].strip("\n")
    if text in page:
        continue
    missing = True
    print(f"{sys.argv[1]} does not hold the text of {name}; paste it:\n{text}", file=sys.stderr)
sys.exit(missing)
