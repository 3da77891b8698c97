"""Prints StableHLO modules with many calls.

    calls.py chain N       main calls f1, f1 calls f2, ..., each with one operation of its own
    calls.py leaves N      main calls each of N functions a hundred times
    calls.py doubling N    main calls f1 twice, f1 calls f2 twice, ...
    calls.py regions N     as chain, each call in a region
"""
import sys

TYPE = "(tensor<f32>) -> tensor<f32>"


def function(name: str, body: list[str], result: str) -> str:
    visibility = "" if name == "main" else "private "
    return "\n".join([f"func.func {visibility}@{name}(%x: tensor<f32>) -> tensor<f32> {{",
                      *body, f"return {result} : tensor<f32>", "}"])


def call(result: str, name: str, operand: str) -> str:
    return f"{result} = func.call @{name}({operand}) : {TYPE}"


def tanh(operand: str) -> str:
    return f'%t = "stablehlo.tanh"({operand}) : {TYPE}'


def main() -> None:
    form, count = sys.argv[1], int(sys.argv[2])
    names = ["main"] + [f"f{number}" for number in range(1, count + 1)]
    if form == "leaves":
        calls = [call(f"%{name}_{number}", name, "%x")
                 for name in names[1:] for number in range(100)]
        print(function("main", calls, "%x"))
        for name in names[1:]:
            print(function(name, [tanh("%x")], "%t"))
        return
    for name, callee in zip(names, names[1:]):
        if form == "chain":
            body = [tanh("%x"), call("%0", callee, "%t")]
        elif form == "doubling":
            body = [call("%1", callee, "%x"), call("%0", callee, "%1")]
        else:
            body = [f'%0 = "stablehlo.while"(%x) ({{', call("%1", callee, "%x"),
                    '"stablehlo.return"(%1) : (tensor<f32>) -> ()', f"}}) : {TYPE}"]
        print(function(name, body, "%0"))
    print(function(names[-1], [tanh("%x")], "%t"))


main()
