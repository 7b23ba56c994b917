/* completion: what may follow on a command line, for shells. The scripts that ask for it
 * are in cmd/completion/. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/embedded.h"
#include "cmd/commands.h"

static const struct rp_command *const commands[] = {RP_COMMANDS(RP_COMMAND_ADDRESS) NULL};

/* ---- scripts ---- */

static const char *shell_name(size_t i) {
    static const char *const shells[] = {"bash", "zsh", "fish", NULL};
    return shells[i];
}

static rp_rc print_script(const char *shell, struct rp_err *err) {
    char path[64];
    snprintf(path, sizeof path, "cmd/completion/remat-plan.%.16s", shell);
    for (size_t i = 0; i < rp_n_embedded; i++)
        if (strcmp(rp_embedded[i].path, path) == 0) {
            fputs(rp_embedded[i].text, stdout);
            return RP_OK;
        }
    struct rp_nearest near = rp_nearest_to(shell, strlen(shell));
    rp_nearest_try_all(&near, shell_name);
    return rp_refuse_name("completion: unknown shell", shell, "", &near,
                          "the shells are bash, zsh, fish", err);
}

/* ---- candidates ---- */

/* The word to complete, and what stands before it. */
struct line {
    char **words; /* from the command on */
    int n;        /* the last of them is to be completed */
};

/* One candidate: BEFORE, the name and, after a tab, what it means. Only if it begins like
 * the word. */
static void offer(const char *word, size_t before, const char *dashes, const char *name,
                  const char *meaning) {
    char text[128];
    snprintf(text, sizeof text, "%s%s", dashes, name);
    if (strncmp(text, word + before, strlen(word + before)) == 0)
        printf("%.*s%s%s%s\n", (int)before, word, text, meaning[0] ? "\t" : "", meaning);
}

static void offer_all(const char *word, size_t before, rp_names *names) {
    puts("words");
    for (size_t i = 0; names(i) != NULL; i++)
        offer(word, before, "", names(i), "");
}

static void offer_commands(const char *word) {
    puts("words");
    for (size_t i = 0; commands[i] != NULL; i++)
        offer(word, 0, "", commands[i]->name, commands[i]->summary);
    offer(word, 0, "", "help", "Describe a command");
    offer(word, 0, "--", "help", "Describe all commands");
    offer(word, 0, "--", "version", "Print the version");
}

/* Of the value of an option, word[before..]. In a list, only its last part. */
static void offer_values(const struct rp_option *o, const char *word, size_t before) {
    static const char *const files[] = {"FILE", "GRAPH", "PLAN", "OUT.csv"};
    const char *comma = strrchr(word + before, ',');
    bool is_list = strchr(o->arg, ',') != NULL;
    if (o->names != NULL) {
        offer_all(word, is_list && comma != NULL ? (size_t)(comma + 1 - word) : before,
                  o->names);
        return;
    }
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strcmp(o->arg, files[i]) == 0) {
            puts("files");
            return;
        }
    puts(strcmp(o->arg, "DIR") == 0 ? "folders" : "words");
}

static void offer_options(const struct rp_option *table, const char *word) {
    puts("words");
    for (const struct rp_option *o = table; o->name != NULL; o++)
        offer(word, 0, "--", o->name, o->help);
    for (const struct rp_option *o = rp_common_options; o->name != NULL; o++)
        offer(word, 0, "--", o->name, o->help);
}

/* The option whose value the last word is; NULL if it is none. Sets *before if the value
 * begins within the word, and *only_operands after "--". */
static const struct rp_option *option_of(const struct rp_option *table,
                                         const struct line *l, size_t *before,
                                         bool *only_operands) {
    const struct rp_option *pending = NULL;
    for (int i = 1; i < l->n - 1; i++) {
        const char *word = l->words[i];
        bool is_long = word[0] == '-' && word[1] == '-';
        if (pending != NULL) {
            pending = NULL;
        } else if (strcmp(word, "--") == 0) {
            *only_operands = true;
            return NULL;
        } else if (is_long && strchr(word, '=') == NULL) {
            pending = rp_option_find(table, word + 2, strlen(word + 2), '\0');
        } else if (word[0] == '-' && word[1] != '\0' && word[2] == '\0') {
            pending = rp_option_find(table, NULL, 1, word[1]);
        }
        if (pending != NULL && pending->arg == NULL)
            pending = NULL;
    }
    const char *last = l->words[l->n - 1], *equals = strchr(last, '=');
    if (pending != NULL || strncmp(last, "--", 2) != 0 || equals == NULL)
        return pending;
    *before = (size_t)(equals + 1 - last);
    const struct rp_option *o =
        rp_option_find(table, last + 2, (size_t)(equals - last - 2), '\0');
    return o != NULL && o->arg != NULL ? o : NULL;
}

static void complete(const struct rp_command *cmd, const struct rp_option *table,
                     void *context) {
    const struct line *l = context;
    const char *word = l->words[l->n - 1];
    size_t before = 0;
    bool only_operands = false;
    const struct rp_option *o = option_of(table, l, &before, &only_operands);
    if (o != NULL)
        offer_values(o, word, before);
    else if (word[0] == '-' && !only_operands)
        offer_options(table, word);
    else if (cmd->operand_names != NULL)
        offer_all(word, 0, cmd->operand_names);
    else
        puts("files");
}

static void complete_line(struct line *l) {
    bool help = strcmp(l->words[0], "help") == 0;
    if (l->n == 1 || (help && l->n == 2)) {
        offer_commands(l->words[l->n - 1]);
        return;
    }
    for (size_t i = 0; commands[i] != NULL; i++)
        if (strcmp(l->words[0], commands[i]->name) == 0)
            rp_options_visit(commands[i], complete, l);
}

/* ---- the command ---- */

static rp_rc run(int argc, char **argv, struct rp_err *err) {
    const struct rp_option table[] = {{0}};
    bool done;
    int n;
    rp_rc rc = rp_options_parse(&rp_cmd_completion, table, argc, argv, &n, &done, err);
    if (rc != RP_OK || done)
        return rc;
    if (strcmp(argv[1], "words") != 0)
        return n == 1 ? print_script(argv[1], err)
                      : rp_check_operands("completion", argv + 1, n, 1, 1, "SHELL", err);
    rc = rp_check_operands("completion", argv + 1, n, 2, INT_MAX, "words WORD...", err);
    if (rc == RP_OK)
        complete_line(&(struct line){argv + 2, n - 1});
    return rc;
}

const struct rp_command rp_cmd_completion = {
    .name = "completion",
    .operands = "SHELL | words -- WORD...",
    .min_operands = 1,
    .max_operands = INT_MAX,
    .operand_names = shell_name,
    .summary = "Print what makes a shell complete command lines",
    .detail =
        "SHELL is bash, zsh or fish. 'make install' installs the scripts of all three.\n"
        "Without it, they can be used so:\n"
        "  bash  eval \"$(remat-plan completion bash)\" in ~/.bashrc\n"
        "  zsh   eval \"$(remat-plan completion zsh)\" in ~/.zshrc, after compinit\n"
        "  fish  remat-plan completion fish >~/.config/fish/completions/remat-plan.fish\n"
        "\n"
        "With 'words', the program says what may stand in place of the last WORD of a\n"
        "command line, which the scripts show: 'files', 'folders', or 'words' and one of\n"
        "them a line, with what it means after a tab.\n",
    .run = run,
};
