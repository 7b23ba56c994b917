# exit: 0
# The time of a larger batch would pass 63 bits.
remat-plan maxbatch lstm-lm --layers 1 --steps 2 -d p100-16g -b 8000000000GiB -p keep-all --fit-only --precision 10
