# exit: 0
remat-plan --version | sed "s/ $(cat "$(dirname "$0")/../../VERSION")$/ VERSION/"
