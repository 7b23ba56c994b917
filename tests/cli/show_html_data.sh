# exit: 0
# What a page is made of. Its policy names the digest of its program, in base64.
remat-plan show -q data/graph/good/step.json data/plan/good/step.json --html page.html
sed -n '1,/^<style>/p' page.html | sed -E 's/sha256-[A-Za-z0-9+/]{43}=/sha256-N/'
grep -E '^</?(head|body|html|style|header|main|script)|^"use strict"' page.html | sed 's/>.*/>/'
sed -n '/^<style>/,/^<.style>/p' page.html | grep '^:root {'
grep 'id="plan-' page.html
grep 'id="data"' page.html | tr , '\n' | uniq -c
sed -n '/^<script>/,/^<\/script>/p' page.html | sed 's/^<script>//; $d' >program
digest=$(printf %b "$(sha256sum <program | cut -c 1-64 | sed 's/../\\x&/g')" | base64)
grep -c "script-src 'sha256-$digest'" page.html
