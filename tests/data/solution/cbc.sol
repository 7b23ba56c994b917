Optimal - objective value 21.00000000
      0 a_1                              1                       3
      1 b_1                              0                       4
      2 c_with_a_long_name               1                       2
      3 n_1                              2                       2
      4 w_1                            2.5                       0
      5 ONE                              1                       7
