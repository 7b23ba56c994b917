Problem:    remat_plan
Rows:       4
Columns:    6 (4 integer, 3 binary)
Non-zeros:  7
Status:     INTEGER OPTIMAL
Objective:  cost = 21 (MINimum)

   No.   Row name        Activity     Lower bound   Upper bound
------ ------------    ------------- ------------- -------------
     1 choose                      2             2             = 
     2 same                     -0.5                         0.5 
     3 range                     2.5           2.5            10 
     4 at_least                    2          1.75               

   No. Column name       Activity     Lower bound   Upper bound
------ ------------    ------------- ------------- -------------
     1 a_1          *              1             0             1 
     2 b_1          *              0             0             1 
     3 c_with_a_long_name
                    *              1             0             1 
     4 n_1          *              2             1             3 
     5 w_1                       2.5            -1               
     6 ONE                         1             1             = 

Integer feasibility conditions:

KKT.PE: max.abs.err = 0.00e+00 on row 0
        max.rel.err = 0.00e+00 on row 0
        High quality

KKT.PB: max.abs.err = 0.00e+00 on row 0
        max.rel.err = 0.00e+00 on row 0
        High quality

End of output
