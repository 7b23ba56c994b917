# exit: 4
# The answer is not "no", since nothing proves that one sample does not fit.
remat-plan maxbatch unet -d v100-16g -b 400MiB -t 0.1 -p checkmate >out
status=$?
sed 's/\(before the work limit; \).*/\1.../' out
exit $status
