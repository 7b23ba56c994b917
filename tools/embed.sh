#!/bin/sh
# embed.sh FILE...: prints C source that defines the texts of the files as base/embedded.h
# declares them. Paths are relative to src/.
set -eu
printf '#include "base/embedded.h"\n\nconst struct rp_embedded_file rp_embedded[] = {\n'
for file; do
    printf '{"%s",\n' "${file#src/}"
    sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/"/' -e 's/$/\\n"/' "$file"
    printf '},\n'
done
printf '};\nconst size_t rp_n_embedded = sizeof rp_embedded / sizeof rp_embedded[0];\n'
