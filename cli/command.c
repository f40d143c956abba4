/* SPDX-License-Identifier: MIT */
#include "command.h"

#include <string.h>

#include "canon.h"
#include "count.h"
#include "dedup.h"
#include "explain.h"
#include "sort.h"

#define READS_FILES                                                                                \
    "With no FILE, or when FILE is -, read standard input. gzip and zstd input is\n"               \
    "recognised by its first bytes."

static const struct command commands[] = {
    {
        .name = "dedup",
        .called = "unseen",
        .bit = COMMAND_DEDUP,
        .usage = "unseen [dedup] [OPTION]... [FILE]...",
        .about = "Print each line of the input the first time it is seen, in input order. Lines\n"
                 "that are the same URL are the same line.\n",
        .examples =
            "  unseen urls.txt > new.txt               each URL the first time only\n"
            "  zcat crawl.gz | unseen | fetcher        in a pipe, answering at once\n"
            "  unseen -x visited.txt found.txt.zst     what is not in visited.txt, once each\n"
            "  unseen -p none emails.txt               compare plain bytes, not URLs\n"
            "  unseen -k 2 -t , log.csv                compare the second field only\n"
            "  unseen -k .link.url pages.jsonl         compare a value inside JSON lines\n"
            "  unseen -c a.txt b.txt                   how many distinct lines\n"
            "  unseen -D again.txt -o new.txt in.txt   split into new lines and repeats\n",
        .ending = READS_FILES " SIGUSR1 prints a status line.\n"
                              "Exit status: 0 done, 1 none (with -q), 2 trouble.\n",
        .try_this = "unseen urls.txt, or: unseen --help",
        .run = dedup_run,
    },
    {
        .name = "canon",
        .called = "unseen canon",
        .bit = COMMAND_CANON,
        .usage = "unseen canon [OPTION]... [FILE]...",
        .about = "Print the canonical form of each line of the input, in input order. What is no\n"
                 "URL is printed as it is.\n",
        .examples =
            "  unseen canon urls.txt                   as the identity of unseen has it\n"
            "  unseen canon -p scrapy < urls.txt       as Scrapy writes it\n"
            "  unseen canon --json urls.txt            with what was done to each line\n"
            "  unseen canon --base http://e.com/a/ links.txt\n"
            "                                          links found on that page\n"
            "  unseen canon --expressions urls.txt     what to look up in a list of bad sites\n",
        .ending =
            "After the expressions of each line --expressions prints an empty line.\n" READS_FILES
            "\nExit status: 0 done, 2 trouble.\n",
        .try_this = "unseen canon urls.txt, or: unseen canon --help",
        .run = canon_run,
    },
    {
        .name = "explain",
        .called = "unseen explain",
        .bit = COMMAND_EXPLAIN,
        .usage = "unseen explain [OPTION]... URL...",
        .about = "Print each step from a URL to its canonical form. For several URLs, say whether\n"
                 "they are the same, which rules make them so, or which would.\n",
        .examples = "  unseen explain http://E.com:80/a/../b\n"
                    "  unseen explain 'http://e.com/?b&a' 'http://e.com/?a&b'\n"
                    "  unseen explain -p whatwg --rule strip-www http://www.e.com http://e.com\n",
        .ending = "Exit status: 0 the same (or one URL only), 1 not the same, 2 trouble.\n",
        .try_this = "unseen explain http://E.com:80/, or: unseen explain --help",
        .run = explain_run,
    },
    {
        .name = "sort",
        .called = "unseen sort",
        .bit = COMMAND_SORT,
        .usage = "unseen sort [OPTION]... [FILE]...",
        .about =
            "Print the integers of all files in increasing order. Each line must be a decimal\n"
            "integer from 0 to 1099511627775 (below 2^40), and is printed without zeros in\n"
            "front. If one is not, or a file cannot be read, nothing is printed.\n",
        .examples = "  unseen sort ids.txt                     as sort -n ids.txt\n"
                    "  unseen sort -u a.txt b.txt.gz           each once, as sort -n -u\n"
                    "  unseen sort -c ids.txt                  how often each comes\n",
        .ending = READS_FILES "\nExit status: 0 done, 2 trouble.\n",
        .try_this = "unseen sort ids.txt, or: unseen sort --help",
        .run = sort_run,
    },
    {
        .name = "count",
        .called = "unseen count",
        .bit = COMMAND_COUNT,
        .usage = "unseen count [OPTION]... [FILE]...",
        .about =
            "Print how many distinct lines the files have together. Lines that are the same URL\n"
            "are the same line. With --by, print a line for each group, in the order in which\n"
            "they first came: the number of distinct lines (with -k: of distinct keys) in that\n"
            "group, a tab, and its name.\n",
        .examples = "  unseen count urls.txt                   as unseen -c\n"
                    "  unseen count --by host urls.txt         distinct URLs of each host\n"
                    "  unseen count -k 1 --by 2 log.tsv        distinct URLs (field 1) of each day "
                    "(field 2)\n"
                    "  unseen count -p none -k .user --by .day log.jsonl\n"
                    "                                          users of each day\n",
        .ending = READS_FILES " If one cannot be read, nothing is printed.\n"
                              "Exit status: 0 done, 2 trouble.\n",
        .try_this = "unseen count urls.txt, or: unseen count --help",
        .run = count_run,
    },
};

const struct command *command_at(size_t i)
{
    return i < sizeof(commands) / sizeof(commands[0]) ? &commands[i] : NULL;
}

const struct command *command_find(const char *name)
{
    const struct command *command = NULL;
    for (size_t i = 0; (command = command_at(i)); i++) {
        if (strcmp(command->name, name) == 0) {
            break;
        }
    }
    return command;
}
