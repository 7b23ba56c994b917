# exit: 0
# By whatever names, and whether it exists or not. Nothing is written, and no work is done.
chain=data/graph/good/chain.json
mkdir a && ln -s a b && ln -s . here
two() {
    remat-plan "$@" >out
    echo "exit $?: $(ls | tr '\n' ' ')$(wc -c <out)"
}
s="solve --ignore-clock $chain -b 100%"
two $s -o n.json --certificate ./n.json
two $s -o a/n.json --certificate b/n.json
two $s -o n.json --certificate here//n.json
two $s -o "$PWD/n.json" --h2d 1 --graph-out n.json
two $s --write-mps m --write-lp here/m
two compare --ignore-clock $chain --csv t --html ./t
two maxbatch resnet18 -d p100-16g -b 1MiB --csv t -o ./t
: >p.json
ln p.json q.json
two $s -o p.json --certificate q.json
two show $chain data/plan/good/chain.json --svg t --html a/../t
# Standard output has other names too.
two $s -o /dev/stdout --json
two zoo resnet18 --tiny -o /dev/stdout --json
two profile $chain --device p100-16g -o /dev/stdout --json
remat-plan $s -o /dev/stdout --certificate /dev/fd/1 | cat
remat-plan $s -o /dev/stdout | head -c 22; echo
# Nor is an input replaced, which standard input may be.
cp $chain g.json
for input in g.json ./g.json -; do
    remat-plan profile --device p100-16g $input -o here/g.json <g.json
    remat-plan solve --ignore-clock $input -b 100% -o a/../g.json <g.json
done
cmp $chain g.json && ls
# Nothing is lost in /dev/null, and files of one name in two folders are two.
remat-plan $s -q -o /dev/null --certificate /dev/null
remat-plan $s -q -o a/n.json --certificate n.json && ls a
