# exit: 0
for words in 'help help' '-h --help' '--help zoo' '-h zoo' 'help zoo'; do
    echo "$words:"
    remat-plan $words | head -n 1
done
