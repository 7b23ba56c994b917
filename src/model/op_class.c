#include "model/op_class.h"

#include <ctype.h>
#include <jansson.h>
#include <string.h>
#include <strings.h>

const char *const rp_op_class_word[RP_N_CLASSES] = {"dense", "grouped", "streaming"};

/* The kind of an op whose arithmetic is matrix products has one of these words. */
static const char *const convolutions[] = {
    "conv",          "convolution", "deconv", "deconvolution", "convinteger",
    "convtranspose", "qlinearconv", "qconv",  "fusedconv",     "nhwcconv",
};
static const char *const products[] = {
    "matmul",
    "batchmatmul",
    "matmulinteger",
    "qlinearmatmul",
    "fusedmatmul",
    "qmatmul",
    "matmulnbits",
    "gemm",
    "qgemm",
    "fusedgemm",
    "qlineargemm",
    "gemv",
    "sgemm",
    "dgemm",
    "hgemm",
    "cgemm",
    "zgemm",
    "mul_mat",
    "matrix_multiply",
    "multi_dot",
    "fully_connected",
    "fullyconnected",
    "innerproduct",
    "mkldnn_linear",
    "mm",
    "bmm",
    "addmm",
    "baddbmm",
    "addbmm",
    "addmv",
    "mv",
    "vdot",
    "einsum",
    "tensordot",
    "dot_general",
    "ragged_dot",
    "attention",
    "multiheadattention",
    "mha",
    "groupqueryattention",
    "sdpa",
    "qattention",
    "flash_attn",
    "fmha",
    "scaled_matmul",
    "scaled_dot_product",
};
/* These only at the beginning: they are parts of other names ("upsample_linear1d"). */
static const char *const first_words[] = {"linear", "dense", "dot", "inner"};
/* And these only if no other word follows: ONNX's QLinearAdd has no products. */
static const char *const first_and_last_words[] = {"qlinear", "fc"};
/* A whole layer. A cell alone is elementwise: its products are ops of their own. */
static const char *const recurrent[] = {"lstm", "gru", "rnn", "rnnv"};

const char *rp_op_base_kind(const struct rp_op *op) {
    const char *kind = op->kind;
    if (strncmp(kind, "aten.", 5) == 0)
        kind += strlen("aten.");
    return kind + strspn(kind, "_");
}

/* Does a word begin at text[i]? */
static bool begins_word(const char *text, size_t i) {
    if (i == 0 || !isalpha((unsigned char)text[i - 1]))
        return true;
    bool capital = isupper((unsigned char)text[i]);
    return capital &&
           (islower((unsigned char)text[i - 1]) || islower((unsigned char)text[i + 1]));
}

/* Is text[i] the first character behind a word? */
static bool ends_word(const char *text, size_t i) {
    return !isalpha((unsigned char)text[i]) ||
           (isupper((unsigned char)text[i]) && islower((unsigned char)text[i - 1]));
}

static bool has_word_at(const char *text, size_t i, const char *word) {
    size_t len = strlen(word);
    return strncasecmp(text + i, word, len) == 0 && begins_word(text, i) &&
           ends_word(text, i + len);
}

static bool has_word(const char *text, const char *word) {
    for (size_t i = 0; text[i] != '\0'; i++)
        if (has_word_at(text, i, word))
            return true;
    return false;
}

/* At the beginning, or behind a name space and underscores. */
static bool is_first(const char *text, size_t i) {
    while (i > 0 && text[i - 1] == '_')
        i--;
    return i == 0 || text[i - 1] == '.' || text[i - 1] == ':';
}

static bool has_first_word(const char *text, const char *word) {
    for (size_t i = 0; text[i] != '\0'; i++)
        if (is_first(text, i) && has_word_at(text, i, word))
            return true;
    return false;
}

static bool has_first_and_last_word(const char *text, const char *word) {
    for (size_t i = 0; text[i] != '\0'; i++)
        if (is_first(text, i) && has_word_at(text, i, word) &&
            !isalpha((unsigned char)text[i + strlen(word)]))
            return true;
    return false;
}

#define ANY(has, kind, words) any_of(has, kind, words, sizeof words / sizeof *words)
static bool any_of(bool (*has)(const char *, const char *), const char *kind,
                   const char *const *words, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (has(kind, words[i]))
            return true;
    return false;
}

enum rp_op_class rp_op_class(const struct rp_op *op) {
    const char *kind = op->kind;
    bool convolves = ANY(has_word, kind, convolutions);
    if (has_word(kind, "depthwise") || strncasecmp(kind, "depthwise", 9) == 0)
        return RP_CLASS_GROUPED;
    if (convolves && json_integer_value(json_object_get(op->attrs, "groups")) > 1)
        return RP_CLASS_GROUPED;
    if (convolves || ANY(has_word, kind, products) ||
        ANY(has_first_word, kind, first_words) ||
        ANY(has_first_and_last_word, kind, first_and_last_words))
        return RP_CLASS_DENSE;
    if (ANY(has_word, kind, recurrent) && !has_word(kind, "cell"))
        return RP_CLASS_DENSE;
    return RP_CLASS_MEMORY;
}
