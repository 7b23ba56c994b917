#!/bin/sh
# embed.sh FILE...: C on standard output: the files' texts as base/texts.h declares them. A
# path begins behind src/.
set -eu
printf '#include "base/texts.h"\n\nconst struct rp_text rp_texts[] = {\n'
for file; do
    printf '{"%s",\n' "${file#src/}"
    sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/"/' -e 's/$/\\n"/' "$file"
    printf '},\n'
done
printf '};\nconst size_t rp_n_texts = sizeof rp_texts / sizeof rp_texts[0];\n'
