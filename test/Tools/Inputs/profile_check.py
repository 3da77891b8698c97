"""profile_check.py FILE ITERATIONS: whether a profile of regression.mlir has what it must have."""
import json
import sys

NAMES = {"arith.mulf", "arith.subf", "linalg.reduce"}
profile = json.load(open(sys.argv[1]))
operations = profile["operations"]
assert profile["version"] == 1 and profile["function"] == "step", profile
assert [operation["index"] for operation in operations] == list(range(len(operations)))
for operation in operations:
    expected = int(sys.argv[2]) if operation["name"] in NAMES else 0
    assert operation["executions"] == expected, operation
    assert 0 <= operation["picoseconds"] < 10**12, operation
    assert expected or operation["picoseconds"] == 0, operation
assert sum(operation["name"] in NAMES for operation in operations) == 7, operations
print("the profile is right")
