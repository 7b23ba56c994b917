objective value:                                   21
a_1                                                 1 	(obj:3)
c_with_a_long_name                                  1 	(obj:2)
n_1                                                 2 	(obj:2)
w_1                                               2.5 	(obj:2)
ONE                                                 1 	(obj:7)
