Model status
Optimal

# Primal solution values
Feasible
Objective 21
# Columns 6
a_1 1
b_1 0
c_with_a_long_name 1
n_1 2
w_1 2.5
ONE 1
# Rows 4
choose 2
same -0.5
range 2.5
at_least 2

# Dual solution values
None

# Basis
HiGHS_basis_file v2
None
