c Problem:    remat_plan
c Rows:       4
c Columns:    6
c Non-zeros:  7
c Status:     INTEGER OPTIMAL
c Objective:  cost = 21 (MINimum)
c
s mip 4 6 o 21
i 1 2
i 2 -0.5
i 3 2.5
i 4 2
j 1 1
j 2 0
j 3 1
j 4 2
j 5 2.5
j 6 1
e o f
