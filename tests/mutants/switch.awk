# switch.awk -v file=NAME -v first=N -v list=LIST [-v asan=1]: reads the list of known lines and
# then a C source, and writes the source with a switch (mutant.h) for each of its mutants.
# Appends a line "NUMBER FILE LINE KIND" to LIST for each, with "listed" behind it where the
# line is a known one. It relies on the layout of the project's sources.

# The line without its strings and character constants, so that their brackets do not count.
function code(s) {
    gsub(/"(\\.|[^"\\])*"/, "\"\"", s)
    gsub(/'(\\.|[^'\\])+'/, "0", s)
    return s
}

# How many brackets a text leaves open.
function depth(s) {
    s = code(s)
    return gsub(/[(\[{]/, "", s) - gsub(/[)\]}]/, "", s)
}

# Takes the lines from i on until brackets are closed. Leaves their number in n_taken.
function statement(i,    s, k) {
    s = text[i]
    for (k = i + 1; depth(s) + (s ~ /\{$/ ? -1 : 0) > 0 || s !~ /[;{)]$/; k++) {
        if (k > n_lines || k > i + 12 || text[k] ~ /^#|\/[*\/]/)
            return ""
        bare = text[k]
        sub(/^ +/, " ", bare)
        s = s bare
    }
    n_taken = k - i
    return s
}

# The position after the bracket that closes the one at `at`.
function closing(s, at,    open, c, quote) {
    for (open = 0; at <= length(s); at++) {
        c = substr(s, at, 1)
        if (c == "\\")
            at++
        else if (quote != "")
            quote = c == quote ? "" : quote
        else if (c == "\"" || c == "'")
            quote = c
        else if (c == "(")
            open++
        else if (c == ")" && --open == 0)
            return at + 1
    }
    return 0
}

# The condition of an if, in expr, with what is around it in head and tail. Returns 0 where it
# finds none.
function split_condition(s,    at, end) {
    if (!match(s, /^ +(} else )?if \(/) || (end = closing(s, RLENGTH)) == 0)
        return 0
    at = RLENGTH
    head = substr(s, 1, at)
    expr = substr(s, at + 1, end - at - 2)
    tail = substr(s, end - 1)
    return 1
}

# Where the operand that ends (or, with step 1, begins) at a position ends on that side.
function operand_end(s, at, step,    open, c) {
    for (open = 0; at >= 1 && at <= length(s); at += step) {
        c = substr(s, at, 1)
        if (c == "\"" || c == "'" || c == "{" || c == "}")
            return 0
        open += (c == "(" || c == "[") - (c == ")" || c == "]")
        if (step * open < 0 || open == 0 && (c ~ /[?;,]/ || substr(s, at, 2) ~ /^(&&|\|\||: )/ ||
            step < 0 && (substr(s, at, 2) ~ /^[=!] / || substr(s, at, 7) == "return ")))
            return at
    }
    return 0
}

# The line with a switch at its first comparison, or nothing.
function compare(i, s,    at, n, from, to, op, end) {
    if (!match(s, / [<>]=? /))
        return ""
    at = RSTART
    n = RLENGTH
    op = substr(s, at + 1, n - 2)
    from = operand_end(s, at - 1, -1)
    to = operand_end(s, at + n, 1)
    if (from == 0 || to == 0)
        return ""
    end = from
    if (substr(s, from, 2) ~ /^(&&|\|\||: |[=!] )/)
        end = from + 1
    else if (substr(s, from, 7) == "return ")
        end = from + 6
    return substr(s, 1, end) " RP_COMPARE(" note(i, "boundary") ", " \
        substr(s, end + 1, at - end - 1) ", " op ", " (op ~ /=/ ? substr(op, 1, 1) : op "=") ", " \
        substr(s, at + n, to - at - n) ") " substr(s, to)
}

function note(i, kind) {
    print first "\t" file "\t" i "\t" kind (bare in reason ? "\tlisted" : "") >>list
    return first++
}

# A line that is not listed is; with `asan` also those are that AddressSanitizer sees.
function is_mutated(bare) {
    return !(bare in reason) || asan && reason[bare] ~ /AddressSanitizer/
}

# Whether only AddressSanitizer can see the mutants of a line: what gives memory back, and a loop
# that goes past the end of an array.
function needs_asan(s) {
    return s ~ /^ *[a-z_>.*-]*(_fini|_free|json_decref|_close)[a-z_]*\(/ || s ~ /^ *for \(.*\+\+\)/
}

# Whether a statement begins in line i: the line before it is complete.
function begins(i,    before) {
    before = text[i - 1]
    sub(/ *\/\*.*\*\/$/, "", before)
    return before == "" || before ~ /[;{}:)]$|else$|\*\/$|^#/
}

FNR == NR {
    if (split($0, cell, "\t") >= 2 && cell[1] == file)
        reason[cell[2]] = cell[3]
    next
}
{ text[++n_lines] = $0 }
END {
    for (i = 1; i <= n_lines; i += n_taken) {
        n_taken = 1
        bare = text[i]
        gsub(/^ +/, "", bare)
        if (!is_mutated(bare) || !asan && needs_asan(bare) || text[i] !~ /^ / || text[i] ~ /\\$/ || !begins(i)) {
            print text[i]
            continue
        }
        if (text[i] ~ /^ +((} else )?if|while|for) \(|^ +return / &&
            (s = compare(i, text[i])) != "")
            text[i] = s
        if (text[i] ~ /^ +(} else )?if \(/ && (s = statement(i)) != "" &&
            text[i + n_taken] ~ /^ +return (reject|rp_fail|rp_reject_step)\(/ &&
            split_condition(s)) {
            print head "RP_NEVER(" note(i, "never") ", (" expr "))" tail
            for (k = 1; k < n_taken; k++)
                print ""
            continue
        }
        n_taken = 1
        if (text[i] ~ /^ +[*a-z_][a-z_>.\[\]()&*0-9-]*( [-+|&]?= .*|\+\+|\(.*\));$/ &&
            depth(text[i]) == 0 &&
            text[i] !~ /^ +(return|rp_rc|free|va_|v?snprintf|assert|__attr)/ &&
            text[i] !~ /^ +(uint|char|bool|size_t)/) {
            match(text[i], /^ +/)
            print substr(text[i], 1, RLENGTH) "{ if (!rp_dropped(" note(i, "dropped") ")) " \
                substr(text[i], RLENGTH + 1) " }"
        } else
            print text[i]
    }
}
