# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`python -m remat` is the command `remat`."""

from remat.cli import run

if __name__ == "__main__":
    run()
