# SPDX-License-Identifier: MIT
"""PyTorch on the CPU as the oracle of every op kind that has a kernel.

    PYTHONPATH=tests python -m oracle PROGRAM [--kind KIND] [--cases N] [--seed N]

Each case is one op of random shapes, attributes and numbers, in f32, f16 or bf16. PROGRAM
(tests/oracle/run_ops.c) computes it with the reference kernel. PyTorch computes it from the
same numbers, with its own forward operator and its own backward formula.

An output is right if

- it has the same value, for kinds that move, choose or compare elements, or that round once:
  PyTorch then computes in the type of the op, or in f64 what no rounding can change;
- otherwise, if it lies within half a unit in the last place of its type of a number that is
  as far from PyTorch's result in f64 as the roundings of an f32 kernel allow: at most
  `roundings` * 2^-24 * `size`. For a sum of n terms, `roundings` is about n and `size` is the
  sum of their absolute values (Higham, Accuracy and Stability of Numerical Algorithms,
  2nd ed., section 4.2). Each case says both.
"""
