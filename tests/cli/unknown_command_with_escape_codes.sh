# exit: 2
remat-plan $'\e[31mred\xff'
