# exit: 4
# Interrupts the command once the log has a line that matches. The rest of the run would take
# much longer.
mkfifo log
interrupted_at() { # PATTERN OPTION...
    local pattern=$1
    shift
    remat-plan maxbatch "$@" -t 60 -v --json >out 2>log &
    exec 3<log
    grep -q -m 1 "$pattern" <&3
    kill -INT $!
    grep -o 'maxbatch: interrupted.*' <&3 | sed 's/[0-9]* to [0-9]*/N to N/; s/[0-9] batches/N batches/'
    wait $!
    status=$?
    grep -o '"interrupted":[a-z]*' out
    return $status
}
interrupted_at '^remat-plan: batch' resnet18 --image 64 -d p100-16g -b 512MiB
# Interrupted before any batch is known to fit or not to fit.
interrupted_at . unet -d v100-16g -b 400MiB -p checkmate
# All that is left is to plan some batches for speed.
interrupted_at '^remat-plan: batch' resnet18 --image 64 -d p100-16g -b 512MiB --precision 50
