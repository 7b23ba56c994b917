/* unit_hint: what was probably meant by a quantity that is not accepted, as the end of a
 * message: "; did you mean 2MB or 2MiB?". Thread-safe: texts are returned by value. */
#ifndef RP_CMD_UNIT_HINT_H
#define RP_CMD_UNIT_HINT_H

#include <stdbool.h>

#include "base/format.h"

/* Of a text that rp_parse_bytes refuses: "2mb", "2 MiB", "1,5GiB", "16 gigabytes"; where a
 * share is accepted, "0.5" too. Empty if nothing can be guessed. */
struct rp_text64 rp_hint_of_size(const char *text, bool share_accepted);

/* Of a text that is not a plain number. `unit` is what the number is in, as the name of the
 * argument says it: "SEC", "PERCENT" or "GB/s". Empty for others. */
struct rp_text64 rp_hint_of_number(const char *text, const char *unit);

/* True if `text` can only be the unit of a quantity: "MiB", "gb", "s", "%", "GB/s". */
bool rp_is_unit(const char *text);

#endif
