/* digest: one digest of much text, for tests that compare it with what it was before. */
#ifndef RP_TESTS_DIGEST_H
#define RP_TESTS_DIGEST_H

/* Makes the digest, "" at first, that of what it was before, then of these words. */
void rp_digest_add(char digest[65], const char *words);

#endif
