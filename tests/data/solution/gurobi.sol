# Solution for model remat_plan
# Objective value = 21
a_1 1
b_1 0
c_with_a_long_name 1
n_1 2
w_1 2.5
ONE 1
