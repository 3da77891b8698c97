"""A layer whose output is read again, after something large."""

from remat import Problem, plan

problem = Problem(alignment=4)
x = problem.value(100, name="x")
h = problem.value(400, name="h")
y = problem.value(1000, name="y")
z = problem.value(8, name="z")
g = problem.value(400, name="g")
problem.operation(50, reads=[x], writes=[h], name="dense")
problem.operation(80, reads=[h], writes=[y], name="expand")
problem.operation(10, reads=[y], writes=[z], name="reduce", workspace=400)
problem.operation(60, reads=[z, h], writes=[g], name="backward")
problem.operation(0, reads=[g], name="return", effect="pinned")

answer = plan(problem, budget=1600)
print(answer)
print(answer.to_text(), end="")
print(answer.simulation.live_bytes)
