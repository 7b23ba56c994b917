#!/bin/bash
# check-html.sh: opens each kind of page in a headless Chromium, through ChromeDriver and
# curl (W3C WebDriver). It moves, clicks, types and turns the wheel as a reader would, and
# checks what is shown. Any message on the console is a failure.
#
# Installs Chromium with apt if need be; skipped where that fails. Under CI (CI=true) a skip
# is a failure.
set -u
export LC_ALL=C
cd "$(dirname "$0")/.." || exit 1
build=$(realpath "${BUILD:-build}")
program=$build/remat-plan
tmp=$(mktemp -d)
driver= session=
good=0 bad=0

finish() {
    [ -n "$session" ] && curl -s --max-time 20 -o "$tmp/end" -X DELETE "$session"
    [ -n "$driver" ] && kill "$driver" 2>/dev/null && wait "$driver" 2>/dev/null
    rm -rf "$tmp"
}
trap finish EXIT

skip() { # WHY
    if [ "${CI:-}" = true ]; then
        echo "FAILED html: skipped ($1), which is a failure under CI"
        echo "html: 0 passed, 1 failed"
        exit 1
    fi
    echo "html: skipped ($1)"
    exit 0
}

verdict() { # NAME EXPECTED FOUND
    if [ "$2" = "$3" ]; then
        good=$((good + 1))
        return 0
    fi
    bad=$((bad + 1))
    echo "FAILED html: $page: $1: expected '$2', found '$3'"
    return 1
}

# ---- the browser ----

ask() {
    curl -s --max-time 60 "$@"
}

# post PATH JSON: prints the answer.
post() {
    ask "$session/$1" -H 'Content-Type: application/json' -d "$2"
}

begin() {
    local flags='"--headless=new","--disable-gpu","--disable-dev-shm-usage","--window-size=1500,1300"' url port=
    [ "$(id -u)" = 0 ] && flags+=',"--no-sandbox"'
    chromedriver --port=0 >"$tmp/driver.log" 2>&1 &
    driver=$!
    for _ in $(seq 300); do
        port=$(sed -nE 's/.*started successfully on port ([0-9]+).*/\1/p' "$tmp/driver.log")
        [ -n "$port" ] && break
        sleep 0.1
    done
    url=http://127.0.0.1:$port/session
    session=$url/$(ask "$url" -d '{"capabilities":{"alwaysMatch":{"goog:loggingPrefs":{"browser":"ALL"},
        "goog:chromeOptions":{"args":['"$flags"']}}}}' | sed -nE 's/.*"sessionId":"([^"]+)".*/\1/p')
    post timeouts '{"script":10000}' >/dev/null
    [ "$session" != "$url/" ] || skip "Chromium does not start: $(tail -n 1 "$tmp/driver.log")"
}

# js EXPRESSION: its value as a text, after the page has drawn. The expression holds no
# double quotes and no backslashes, and its value neither.
js() {
    post execute/async "{\"script\":\"const done = arguments[0]; requestAnimationFrame(() => setTimeout(() => {
        try { done(String($1)); } catch (error) { done('error: ' + error.message); } }));\",\"args\":[]}" |
        tr -d '\n' | sed -E 's/^\{"value":"(.*)"\}$/\1/'
}

# check NAME EXPECTED EXPRESSION
check() {
    verdict "$1" "$2" "$(js "$(tr '\n' ' ' <<<"$3")")"
}

go() { # FILE; fails if there is no page in it
    page=${1##*/}
    post url "{\"url\":\"file://$1\"}" >/dev/null
    verdict "the page opens" true "$([ -s "$1" ] && js "page.graph !== null")"
}

# at X Y ACTIONS...: moves the pointer to a place in the chart, in pixels, then acts.
at() {
    local x=$1 y=$2 box
    shift 2
    box=$(js "(box => [Math.round(box.left), Math.round(box.top)])(byId('chart').getBoundingClientRect())")
    [[ $box =~ ^[0-9]+,[0-9]+$ ]] || return
    x=$((x + ${box%,*})) y=$((y + ${box#*,}))
    post actions "{\"actions\":[{\"type\":\"pointer\",\"id\":\"mouse\",\"actions\":[
        {\"type\":\"pointerMove\",\"duration\":0,\"x\":$x,\"y\":$y}$*]}]}" >/dev/null
}
press=',{"type":"pointerDown","button":0}' lift=',{"type":"pointerUp","button":0}'

wheel() { # X Y DELTA
    post actions "{\"actions\":[{\"type\":\"wheel\",\"id\":\"wheel\",\"actions\":[
        {\"type\":\"scroll\",\"x\":$1,\"y\":$2,\"deltaX\":0,\"deltaY\":$3,\"duration\":0}]}]}" >/dev/null
}

# Keys by name, or a text.
keys() {
    local key list=
    for key; do
        case $key in
        Enter) key='\uE007' ;;
        Escape) key='\uE00C' ;;
        Left) key='\uE012' ;;
        Right) key='\uE014' ;;
        Down) key='\uE015' ;;
        Home) key='\uE011' ;;
        End) key='\uE010' ;;
        esac
        list+=",{\"type\":\"keyDown\",\"value\":\"$key\"},{\"type\":\"keyUp\",\"value\":\"$key\"}"
    done
    post actions "{\"actions\":[{\"type\":\"key\",\"id\":\"keys\",\"actions\":[${list#,}]}]}" >/dev/null
}

quiet() {
    verdict "no message on the console" '{"value":[]}' "$(post se/log '{"type":"browser"}')"
}

# field FILE KEY: a number of a JSON file that has the key once.
field() {
    grep -oE "\"$2\": ?[0-9]+" "$1" | head -n 1 | grep -oE '[0-9]+$'
}

# ---- the pages ----

detail="document.querySelector('#details h2').textContent"

check_head() { # PLAN
    check "the peak is the plan's" "$(field "$1" peak_bytes)" "document.querySelector('[data-figure=Peak]').dataset.exact"
    check "the curve reaches the peak" "$(field "$1" peak_bytes)" "page.chart.plan.during.reduce((a, b) => Math.max(a, b))"
    check "the last queue ends with the plan" "$(field "$1" time_ns)" \
        "Math.max(...page.chart.plan.end, ...page.chart.plan.copies.map(copy => copy.end))"
}

# Each kind of memory has a share at every step, and what is shown of the peak adds up.
check_kinds() { # PLAN
    local peak at="page.chart.plan.split.during(page.chart.plan.peakStep())"
    peak=$(field "$1" peak_bytes)
    check "the kinds of memory add up at each step" true "page.chart.plan.after.every((bytes, s) =>
        page.chart.plan.split.after.reduce((sum, held) => sum + held[s], 0) === bytes)"
    check "and at the peak" "$peak" "$at.reduce((sum, part) => sum + part.bytes, 0)"
    check "the legend names them" "$(js "page.chart.plan.split.kinds().map(kind => kind.word).join(' ')")" \
        "[...byId('kinds-key').children].map(key => key.textContent).join(' ')"
    check "a screen reader hears them" true "$at.every(part =>
        byId('chart').getAttribute('aria-label').includes(part.word + ' ' + showBytes(part.bytes)))"
    js "page.pick({step: page.chart.plan.peakStep(), tensor: -1}, true)" >/dev/null
    check "the details list them" "$(js "$at.map(part => part.word + showBytes(part.bytes)).join(' ')")" \
        "[...document.querySelectorAll('#details .kinds li')].map(row => row.textContent).join(' ')"
    check "each has a colour of its own" "6" "new Set(page.chart.ink.kinds).size"
    js "page.pick({step: -1, tensor: -1}, true)" >/dev/null
}

check_areas() {
    check "areas have these colours" true "((data, seen) => {
        for (let k = 0; k < data.length; k += 4) seen.add('rgb(' + data.slice(k, k + 3).join(', ') + ')');
        return page.chart.plan.split.during(page.chart.plan.peakStep()).every(part => part.bytes < 0.03 * page.chart.memory.top || seen.has(page.chart.ink.kinds[part.kind]));
    })(page.chart.context.getImageData(MARGIN.left, MARGIN.top, page.chart.width, 250).data, new Set())"
}

check_chart() {
    check "nothing is chosen at first" Details "$detail"
    at 300 60
    check "the op under the pointer is shown" true "page.graph.ops.some(op => op.name === $detail)"
    at 300 60 "$press$lift"
    name=$(js "$detail")
    at 700 60
    check "it is another one elsewhere" true "$detail !== '$name'"
    post actions '{"actions":[{"type":"pointer","id":"mouse","actions":[{"type":"pointerMove","duration":0,"x":5,"y":5}]}]}' >/dev/null
    check "what was clicked comes back" "$name" "$detail"
    wheel 600 500 -400
    check "the wheel zooms" true "page.chart.axis.high - page.chart.axis.low < 0.6 * page.chart.axis.extent()"
    js "window.low = page.chart.axis.low" >/dev/null
    at 500 60 "$press,{\"type\":\"pointerMove\",\"duration\":0,\"origin\":\"pointer\",\"x\":60,\"y\":0}$lift"
    check "dragging pans" true "page.chart.axis.low < window.low"
    js "byId('whole').click()" >/dev/null
    check "the whole step is shown again" true "page.chart.axis.low === 0 && page.chart.axis.high === page.chart.axis.extent()"
    js "byId('axis-steps').click()" >/dev/null
    check "the axis counts steps" "$(js "page.chart.plan.n")" "page.chart.axis.high"
    check "something is drawn" true "new Set(page.chart.context.getImageData(100, 20, 800, 200).data).size > 8"
    js "byId('axis-time').click()" >/dev/null
}

check_keys() {
    js "byId('chart').focus()" >/dev/null
    keys Home
    check "Home shows the first op" "$(js "page.graph.ops[0].name")" "$detail"
    keys Right Right Left
    check "arrows go from run to run" "$(js "page.graph.ops[page.chart.plan.ids[page.chart.plan.runs[1]]].name")" "$detail"
    check "a screen reader hears it" true "byId('said').textContent.startsWith($detail + ', ')"
    keys + +
    check "plus zooms in" true "page.chart.axis.high - page.chart.axis.low < 0.3 * page.chart.axis.extent()"
    keys End
    check "the last run comes into view" true "page.chart.axis.high >= page.chart.plan.clock[page.chart.plan.runs.at(-1)]"
    keys 0 Escape
    check "Escape lets go" Details "$detail"
}

check_search() { # NAME, of a tensor or op
    keys / "${@:2}" Enter
    check "the search finds '$1'" true "$detail.includes('$1')"
    check "the chart has the focus afterwards" chart "document.activeElement.id"
    check "an entry that is not there is not found" 0 "(() => { page.search.input.value = 'no such name';
        page.search.find(); const n = page.search.found.length; page.search.input.value = ''; page.search.find(); return n; })()"
}

check_table() {
    check "only rows in view are elements" true "document.querySelectorAll('#tensors tbody tr').length < 60"
    js "document.querySelector('#tensors [data-key=bytes] button').click()" >/dev/null
    check "the smallest tensor comes first" "$(js "showBytes(page.graph.tensors.reduce((a, t) => Math.min(a, t.bytes), Infinity))")" \
        "document.querySelector('#tensors tbody tr[aria-rowindex] .number').textContent"
    check "no head of a column is cut" true "[...document.querySelectorAll('#tensors thead th')].every(th => th.scrollWidth <= th.clientWidth)"
    check "the order is said" ascending "document.querySelector('#tensors [data-key=bytes]').getAttribute('aria-sort')"
    js "(s => { s.value = 'kept'; s.dispatchEvent(new Event('change')); })(document.querySelector('#tensors select'))" >/dev/null
    check "rows can be chosen by fate" true "document.querySelector('#tensors .filters span').textContent.startsWith(
        showCount(page.chart.plan.fates.filter(fate => fate === 'kept').length) + ' of')"
    js "document.querySelector('#tensors .scroll').focus()" >/dev/null
    keys Down Enter
    check "Enter shows the tensor of a row" true "page.graph.tensors.some(t => t.name === $detail)"
}

check_theme() {
    js "byId('theme').click()" >/dev/null
    check "light" "rgb(255, 255, 255)" "page.chart.ink.surface"
    js "byId('theme').click()" >/dev/null
    check "dark" "rgb(27, 32, 39)" "page.chart.ink.surface"
    js "byId('theme').click()" >/dev/null
}

plan_page() {
    local graph=plans/resnet50-b256-v100.graph.json plan=plans/resnet50-b256-v100.plan.json
    "$program" show "$graph" "$plan" -q --html "$tmp/plan.html"
    go "$tmp/plan.html" || return
    check_head $plan
    check_kinds $plan
    check_chart
    check_keys
    check_search layer3.0.conv2 l a y e r 3 . 0 . c o n v 2
    check_table
    check_theme
    js "page.go({step: -1, tensor: page.chart.plan.fates.indexOf('recomputed')})" >/dev/null
    check "it is said why a tensor comes again" true \
        "document.querySelector('#details .gap').textContent.includes('runs again to make it')"
    js "page.go({step: -1, tensor: page.chart.plan.fates.indexOf('swapped')})" >/dev/null
    check "memory had it stayed is that of the busiest run" true "page.graph.tensors.every((_, x) =>
        gapsOf(page.chart.plan, x).every(gap => gap.peakKept === gap.bytes + page.chart.plan.runs
            .filter(s => s > gap.from && s < gap.to).reduce((most, s) => Math.max(most, page.chart.plan.during[s]), 0)))"
    check "and why one is copied" true \
        "document.querySelector('#details .gap').textContent.includes('It comes back by a copy of')"
    quiet
}

page_without_addresses() {
    "$program" solve plans/vgg16-b176-p100.graph.json --policy chen-sqrt -b 100% --no-addresses -q -o "$tmp/sum.plan.json"
    "$program" show plans/vgg16-b176-p100.graph.json "$tmp/sum.plan.json" -q --html "$tmp/sum.html"
    go "$tmp/sum.html" || return
    check_head "$tmp/sum.plan.json"
    check "there is no map of addresses" "null true" "page.chart.arena + ' ' + byId('arena-key').hidden"
    quiet
}

# Parameters and what the optimizer keeps live on the host.
page_of_state_on_the_host() {
    "$program" zoo bert-base --layers 1 --batch 2 --seq 64 --optimizer adam --state-home host -q -o "$tmp/zoo.json"
    "$program" profile "$tmp/zoo.json" --device v100-16g -q -o "$tmp/state.json"
    "$program" solve "$tmp/state.json" --policy zero-offload -b 100% -q -o "$tmp/state.plan.json"
    "$program" show "$tmp/state.json" "$tmp/state.plan.json" -q --html "$tmp/state.html"
    go "$tmp/state.html" || return
    check_head "$tmp/state.plan.json"
    check_kinds "$tmp/state.plan.json"
    check_areas
    check "state comes and goes" true "(held => Math.min(...held) < Math.max(...held))(page.chart.plan.split.after[1])"
    check_theme
    quiet
}

# Names that would do harm if they became markup or ended the data.
page_of_evil_names() {
    local evil='<\\/script><script>document.title = 1<\\/script><img src=x onerror=\\"document.title = 1\\">\\u2028\\u0027'
    sed -E "s~\"name\": *\"[^\"]*\"~\"name\": \"$evil\"~g" tests/data/graph/good/small.json >"$tmp/evil.json"
    "$program" solve "$tmp/evil.json" -b 100% -t 1 --ignore-clock -q -o "$tmp/evil.plan.json"
    "$program" show "$tmp/evil.json" "$tmp/evil.plan.json" -q --html "$tmp/evil.html"
    go "$tmp/evil.html" || return
    js "byId('chart').focus()" >/dev/null
    keys Home
    keys / s c r i p t Enter
    check "names stay text" "true 0" "($detail).includes('<img src=x onerror=') + ' ' + document.images.length"
    check "the title is the graph's name" true "document.title.startsWith('</' + 'script>')"
    quiet
}

comparison_page() {
    local graph=plans/bert-l4-b32-v100.graph.json rows
    "$program" compare $graph -q -b 80%,50% -p keep-all,chen-sqrt,dtr,capuchin --csv "$tmp/table.csv" --html "$tmp/table.html"
    go "$tmp/table.html" || return
    rows=$(grep -c '^[^,]*,feasible' "$tmp/table.csv")
    check "every budget has its table" 2 "document.querySelectorAll('.entries').length"
    check "every policy has its row" 8 "document.querySelectorAll('.entries tbody tr').length"
    check "the rows that fit are those of the table" "$rows" "page.raw.entries.filter(entry => entry.fits).length"
    check "what does not fit has no time" true "[...document.querySelectorAll('.entries tbody tr')].every((row, k) =>
        page.raw.entries[k].fits !== false || row.cells[1].textContent === String.fromCharCode(8211))"
    check "some does not fit" true "page.raw.entries.some(entry => entry.fits === false)"
    check "it is said how long planning took" "$(js "showTime(page.raw.entries[1].solver)")" \
        "document.querySelectorAll('.entries tbody tr')[1].cells[3].textContent"
    check "a curve is drawn for each plan" true "document.querySelectorAll('svg.small').length === page.raw.entries.filter(e => e.plan >= 0).length"
    js "document.querySelector('.entries a').click()" >/dev/null
    check "a click shows the plan" "true #plan-0" "!byId('plan').hidden + ' ' + location.hash"
    check "with its peak" "$(js "page.raw.entries[0].peak")" "document.querySelector('[data-figure=Peak]').dataset.exact"
    js "byId('back').click()" >/dev/null
    check "the plan has the focus on the way back" "#plan-0" "document.activeElement.getAttribute('href')"
    keys Enter
    check "Enter opens it, and the chart has the focus" "true chart" "!byId('plan').hidden + ' ' + document.activeElement.id"
    js "history.back()" >/dev/null
    check "and back" false "byId('overview').hidden"
    quiet
}

sweep_page() {
    local table=$tmp/sweep/bert-l4-b32-v100 last
    "$program" sweep plans/bert-l4-b32-v100.graph.json -o "$tmp/sweep" -b 40%..100%:4 -p chen-greedy -q --html
    go "$table/curve.html"
    check "the curve has a point for each plan" "$(ls "$table"/*.plan.json | wc -l)" "document.querySelectorAll('svg.curve a').length"
    last=$(ls "$table"/*.plan.json | sort -t/ -k5 -V | tail -n 1)
    js "[...document.querySelectorAll('svg.curve a')].at(-1).dispatchEvent(new MouseEvent('click', {bubbles: true}))" >/dev/null
    check_head "$last"
    js "(s => { s.value = s.options[0].value; s.dispatchEvent(new Event('change')); })(byId('entry'))" >/dev/null
    check "another plan is chosen from the list" "$(js "showBytes(page.raw.entries.find(e => e.plan >= 0).budget)")" \
        "document.querySelector('[data-figure=Budget]').textContent"
    js "history.back()" >/dev/null
    check "the browser's way back works" "$(field "$last" peak_bytes)" "document.querySelector('[data-figure=Peak]').dataset.exact"
    quiet
}

# A chain of 13,333 ops, whose plan has 40,000 steps.
large_page() {
    awk 'BEGIN {
        n = 13333
        printf "{\"format\":\"remat-graph\",\"version\":1,\"name\":\"chain\",\"time_source\":\"imported:test\",\"tensors\":["
        printf "{\"name\":\"in\",\"bytes\":512,\"kind\":\"input\"}"
        for (i = 1; i <= 2 * n; i++) printf ",{\"name\":\"t%d\",\"bytes\":%d,\"kind\":\"activation\"}", i, 512 * (1 + i % 7)
        printf "],\"ops\":["
        for (i = 1; i <= n; i++)
            printf "%s{\"name\":\"op%d\",\"kind\":\"k\",\"inputs\":[%d],\"outputs\":[%d,%d],\"time_ns\":%d}", (i > 1 ? "," : ""),
                i, (i > 1 ? 2 * i - 3 : 0), 2 * i - 1, 2 * i, 1000 + i % 100
        printf "],\"keep\":[%d]}\n", 2 * n
    }' >"$tmp/chain.json"
    "$program" solve "$tmp/chain.json" --policy keep-all -b 100% -q -o "$tmp/chain.plan.json"
    "$program" show "$tmp/chain.json" "$tmp/chain.plan.json" -q --html "$tmp/chain.html"
    go "$tmp/chain.html" || return
    check_head "$tmp/chain.plan.json"
    check "no element is made for a step" true "document.querySelectorAll('*').length < 1500"
    keys / o p 7 7 7 7 Enter
    check "the search goes to an op" true "$detail === 'op7777' && page.chart.axis.high < 0.6 * page.chart.axis.extent()
        && page.chart.axis.low > 0.5 * page.chart.axis.extent()"
    quiet
}

tools/deps.sh install browser >"$tmp/deps.log" 2>&1 ||
    skip "Chromium is not there and cannot be installed: $(tail -n 1 "$tmp/deps.log")"
begin
plan_page
page_without_addresses
page_of_state_on_the_host
page_of_evil_names
comparison_page
sweep_page
large_page
echo "html: $good passed, $bad failed"
[ $bad = 0 ]
