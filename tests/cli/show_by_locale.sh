# exit: 0
# The first variable that is set says whether the terminal takes UTF-8.
show() {
    env -u LC_ALL "$@" remat-plan show data/graph/good/small.json data/plan/good/small.json |
        LC_ALL=C grep -q $'\xe2\x96' && echo "blocks: $*" || echo "ASCII: $*"
}
show
show LC_ALL=C.UTF-8
show LC_ALL=C LC_CTYPE=C.UTF-8 LANG=C.UTF-8
show LC_ALL= LC_CTYPE=en_US.utf8 LANG=C
show LC_CTYPE=C LANG=C.UTF-8
show LANG=C.UTF-8
show LC_ALL= LC_CTYPE= LANG=
