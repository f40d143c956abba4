/* SPDX-License-Identifier: MIT
 *
 * The table of commands: a row has the name of a command, how it uses a store, its help, its
 * examples, and the function that runs it. */
#include <string.h>

#include "options/options.h"

#define NAMED(word) .name = word, .called = "unseen " word

static const struct command commands[] = {
    {
        .name = "dedup",
        .called = "unseen",
        .bit = COMMAND_DEDUP,
        .summary = "print each line the first time only (the default command)",
        .brief = "store exclude key",
        .use = {.prints_new = true, .makes_store = true},
        .usage = "unseen [dedup] [OPTION]... [FILE]...",
        .usage_too = "unseen COMMAND [OPTION]... [ARGUMENT]...",
        .about = "Print each line of the input the first time it is seen, in input order. Lines\n"
                 "that are the same URL are the same line.\n",
        .examples =
            "  unseen urls.txt > new.txt               each URL the first time only\n"
            "  zcat crawl.gz | unseen | fetcher        in a pipe, answering at once\n"
            "  crawler | unseen -s visited.unseen | fetcher\n"
            "                                          remembered across runs and crashes\n"
            "  unseen -s visited.unseen -o queue.txt new.txt\n"
            "                                          each once in queue.txt, come what may\n"
            "  unseen -x visited.txt found.txt.zst     what is not in visited.txt, once each\n"
            "  unseen -p none emails.txt               compare plain bytes, not URLs\n"
            "  unseen -k 2 -t , log.csv                compare the second field only\n"
            "  unseen -k .link.url pages.jsonl         compare a value inside JSON lines\n"
            "  unseen -c a.txt b.txt                   how many distinct lines\n"
            "  unseen -D again.txt -o new.txt in.txt   split into new lines and repeats\n",
        .ending = " SIGUSR1 prints a status line.",
        .statuses = "0 done, 1 none (with -q), 2 trouble",
        .run = dedup_run,
    },
    {
        NAMED("canon"),
        .bit = COMMAND_CANON,
        .summary = "print the canonical form of each URL",
        .brief = "json profile",
        .usage = "unseen canon [OPTION]... [FILE]...",
        .about = "Print the canonical form of each line of the input, in input order. A line that\n"
                 "is not a URL is printed as it is.\n",
        .examples =
            "  unseen canon urls.txt                   as the identity of unseen has it\n"
            "  unseen canon -p scrapy < urls.txt       as Scrapy writes it\n"
            "  unseen canon --json urls.txt            with what was done to each line\n"
            "  unseen canon --base http://e.com/a/ links.txt\n"
            "                                          links found on that page\n"
            "  unseen canon --expressions urls.txt     what to look up in a list of bad sites\n",
        .ending = "\nAfter the expressions of each line --expressions prints an empty line.",
        .run = canon_run,
    },
    {
        NAMED("explain"),
        .bit = COMMAND_EXPLAIN,
        .summary = "say why two URLs are the same, or why not",
        .brief = "profile rule",
        .usage = "unseen explain [OPTION]... URL...",
        .about = "Print each step from a URL to its canonical form. For several URLs, say whether\n"
                 "they are the same, which rules make them so, or which would.\n",
        .examples = "  unseen explain http://E.com:80/a/../b\n"
                    "  unseen explain 'http://e.com/?b&a' 'http://e.com/?a&b'\n"
                    "  unseen explain -p whatwg --rule strip-www http://www.e.com http://e.com\n",
        .statuses = "0 the same (or one URL only), 1 not the same, 2 trouble",
        .run = explain_run,
    },
    {
        NAMED("check"),
        .bit = COMMAND_CHECK,
        .summary = "print the lines that are in a store or a list",
        .brief = "invert count quiet why key",
        .use = {.asks_only = true, .takes_list = true},
        .usage = "unseen check [OPTION]... STORE [FILE]...",
        .about = "Print the lines of the input that are in STORE, in input order, each time they\n"
                 "occur. STORE may be a list (unseen build): then those that it covers, but not\n"
                 "those that are allowed. Or a server: unix:PATH, ADDR:PORT, redis://HOST/KEY.\n",
        .examples = "  unseen check visited.unseen urls.txt       which were visited\n"
                    "  unseen check -v visited.unseen urls.txt    which were not\n"
                    "  unseen check -q visited.unseen urls.txt    is one of them?\n"
                    "  unseen check bad.list urls.txt             which are listed\n"
                    "  unseen check --why bad.list urls.txt       and by which entries\n",
        .statuses = "0 some line printed, 1 none (as grep), 2 trouble",
        .run = dedup_run,
    },
    {
        NAMED("add"),
        .bit = COMMAND_ADD,
        .summary = "add lines to a store",
        .brief = "profile key seed-file",
        .use = {.makes_store = true, .list_option = "add"},
        .usage = "unseen add [OPTION]... STORE [FILE]...",
        .about = "Add the lines of the input to STORE, which is made if it does not exist. Prints\n"
                 "nothing. STORE may be a server: unix:PATH, ADDR:PORT, redis://HOST/KEY.\n",
        .examples = "  unseen add visited.unseen urls.txt\n"
                    "  unseen add --seed-file seed.key part1.unseen urls.txt   to be merged\n"
                    "  unseen add --fpr 1e-6 --stats small.unseen urls.txt\n",
        .run = change_run,
    },
    {
        NAMED("remove"),
        .bit = COMMAND_REMOVE,
        .summary = "remove lines from a store: they will be new again",
        .brief = "key",
        .use = {.removes = true, .list_option = "remove"},
        .usage = "unseen remove [OPTION]... STORE [FILE]...",
        .about = "Remove the lines of the input from STORE: they will be new again. Prints\n"
                 "nothing. STORE may be a server: unix:PATH, ADDR:PORT, redis://HOST/KEY.\n"
                 "A line that was never added is left out, also if STORE takes it for seen.\n"
                 "STORE is read once for 65,000 lines, so remove many at a time.\n",
        .examples = "  unseen remove visited.unseen urls.txt\n"
                    "  unseen remove --stats visited.unseen urls.txt   and how many were in it\n",
        .run = change_run,
    },
    {
        NAMED("merge"),
        .bit = COMMAND_MERGE,
        .summary = "join stores into one",
        .brief = "into",
        .use = {.list_hint = "unseen build --from %s NEW FILE"},
        .usage = "unseen merge [OPTION]... NEW IN...",
        .usage_too = "unseen merge [OPTION]... --into STORE IN...",
        .about = "Make the store NEW, with the settings of the first IN and all that is in the\n"
                 "stores IN; or, with --into, add to STORE, which exists. After an error or a\n"
                 "crash nothing has changed. The stores must have the same seed and profile.\n"
                 "Make them with the same --seed-file, or with --like.\n",
        .examples = "  unseen merge all.unseen part1.unseen part2.unseen\n"
                    "  unseen merge --into all.unseen part3.unseen\n",
        .run = merge_run,
    },
    {
        NAMED("info"),
        .bit = COMMAND_INFO,
        .summary = "print size, rate, settings of a store, list, filter, bitmap or server",
        .brief = "json",
        .use = {.takes_list = true},
        .usage = "unseen info [OPTION]... STORE",
        .about =
            "Print how many keys STORE has, its rate of wrong answers, its size and its\n"
            "settings. STORE may be a list (unseen build), a foreign filter (unseen import)\n"
            "or a bitmap (unseen bits). Or a server: unix:PATH, ADDR:PORT, redis://HOST/KEY.\n",
        .examples = "  unseen info visited.unseen\n"
                    "  unseen info --json bad.list\n",
        .run = info_run,
    },
    {
        NAMED("verify"),
        .bit = COMMAND_VERIFY,
        .summary = "compare every checksum of stores, lists, filters and bitmaps",
        .use = {.takes_list = true},
        .usage = "unseen verify [OPTION]... STORE...",
        .about = "Read all of each STORE, which may be a list (unseen build), a foreign filter\n"
                 "(unseen import) or a bitmap (unseen bits), and compare every checksum. Changes\n"
                 "nothing.\n",
        .examples = "  unseen verify visited.unseen\n"
                    "  unseen verify bad.list\n",
        .statuses = "0 all good, 1 damage was found, 2 trouble",
        .run = verify_run,
    },
    {
        NAMED("repair"),
        .bit = COMMAND_REPAIR,
        .summary = "make a damaged store usable again",
        .use = {.list_hint = "to make it anew: unseen build %s FILE"},
        .usage = "unseen repair [OPTION]... STORE",
        .about = "Make a damaged STORE usable again. What intact commits say is kept, the rest is\n"
                 "forgotten and will be new again. The store as it was stays as STORE.damaged.\n"
                 "The leases of a server (STORE.leases) are repaired in the same way.\n",
        .examples = "  unseen repair visited.unseen\n",
        .run = repair_run,
    },
    {
        NAMED("rewrite"),
        .bit = COMMAND_REWRITE,
        .summary = "write a store anew: smaller, or with other settings",
        .brief = "fpr filter",
        .use = {.list_hint = "unseen build --from %s NEW FILE"},
        .usage = "unseen rewrite [OPTION]... STORE",
        .about = "Write STORE anew, without what was removed from it, or with other settings. A\n"
                 "crash leaves the old one or the new one.\n",
        .examples =
            "  unseen rewrite visited.unseen\n"
            "  unseen rewrite --fpr 2e-6 visited.unseen      less memory, more wrong answers\n",
        .run = rewrite_run,
    },
    {
        NAMED("import"),
        .bit = COMMAND_IMPORT,
        .summary = "add to a store what another program remembers",
        .brief = "format profile seed-file",
        .use = {.makes_store = true, .list_option = "add"},
        .usage = "unseen import [OPTION]... STORE [FILE]...",
        .about =
            "Add to STORE what another program remembers. STORE is made if it does not exist;\n"
            "for requests.seen, which holds fingerprints of Scrapy and no URLs, with -p none.\n"
            "A Bloom filter of Guava or DCSO does not know its keys: of it STORE becomes a\n"
            "foreign filter, for check and -x, which ask it with the bytes of each line; so\n"
            "it does of a filter of RedisBloom (--from-redis). The bytes of a Redis bitmap or\n"
            "of Java's BitSet.toByteArray go into a bitmap.\n",
        .examples = "  unseen import --format anew visited.unseen anew.txt\n"
                    "  unseen import --format requests.seen scrapy.unseen requests.seen\n"
                    "  redis-cli SMEMBERS urls | unseen import --format redis-set visited.unseen\n"
                    "  unseen import --format guava --funnel utf8 old.filter filter.bin\n"
                    "  unseen -p none -x old.filter -s new.unseen urls.txt\n",
        .ending =
            " A line that is not\nwhat the format says is reported and left out, and the exit "
            "status is 2.",
        .run = import_run,
    },
    {
        NAMED("recheck"),
        .bit = COMMAND_RECHECK,
        .summary = "print the lines that a store took for seen by mistake",
        .brief = "key output",
        .usage = "unseen recheck [OPTION]... STORE [FILE]...",
        .about =
            "Find the lines that were dropped as seen by mistake. The input is the lines that\n"
            "a run dropped. recheck looks for them in the log of STORE, not in its filter,\n"
            "and prints each line that is not there, once. STORE is not changed.\n",
        .examples = "  unseen -s visited.unseen -D dropped.txt urls.txt > new.txt\n"
                    "  unseen recheck visited.unseen dropped.txt\n",
        .statuses = "0 some line printed, 1 none (as grep), 2 trouble",
        .run = recheck_run,
    },
    {
        NAMED("allow"),
        .bit = COMMAND_ALLOW,
        .summary = "allow lines that a list or a store takes for its own by error",
        .brief = "remove list",
        .usage = "unseen allow [OPTION]... LIST [FILE]...",
        .usage_too = "unseen allow --list LIST\n"
                     "       unseen allow [OPTION]... STORE [FILE]...",
        .about =
            "Allow the lines of the input: from now on LIST does not list them, even if an\n"
            "entry covers them. In a list of sites, domains or networks, an allowed line\n"
            "also allows all below it. LIST keeps the texts themselves, so nothing else is\n"
            "allowed by error. If one of the lines is not an entry, nothing is changed.\n"
            "\n"
            "Of a STORE: lines that its filter takes for seen, though they were never added,\n"
            "are new from now on, until they are added. Lines that were added stay seen:\n"
            "they are counted, and the status is 2. The other lines are allowed all the same.\n",
        .examples = "  unseen allow bad.list false-hits.txt\n"
                    "  echo http://e.com/ | unseen allow --remove bad.list\n"
                    "  unseen allow --list bad.list\n"
                    "  unseen recheck visited.unseen dropped.txt | unseen allow visited.unseen\n",
        .run = allow_run,
    },
    {
        NAMED("update"),
        .bit = COMMAND_UPDATE,
        .summary = "add entries to a list and remove others",
        .brief = "add remove",
        .usage = "unseen update [OPTION]... LIST [--add FILE]... [--remove FILE]...",
        .about =
            "Add entries to LIST and remove others, without building it anew. The changes are\n"
            "appended to the file LIST, and programs that have it open take them up. If one\n"
            "of the lines is not an entry, nothing is changed. When the changes are more\n"
            "than about 1 % of the list, build it anew: unseen build --from LIST takes over\n"
            "what was added, removed and allowed.\n",
        .examples = "  unseen update bad.list --add more.txt --remove gone.txt\n"
                    "  echo http://bad.example/ | unseen update bad.list --add -\n",
        .ending = "Files may be compressed; - is standard input.",
        .run = update_run,
    },
    {
        NAMED("sort"),
        .bit = COMMAND_SORT,
        .summary = "sort integers, through a bitmap",
        .brief = "unique count",
        .usage = "unseen sort [OPTION]... [FILE]...",
        .about = "Print the integers of all files in increasing order, without zeros in front.\n"
                 "Each line must be a decimal integer from 0 to 1099511627775 (below 2^40). If a\n"
                 "line is not, or a file cannot be read, nothing is printed.\n",
        .examples = "  unseen sort ids.txt                     as sort -n ids.txt\n"
                    "  unseen sort -u a.txt b.txt.gz           each once, as sort -n -u\n"
                    "  unseen sort -c ids.txt                  how often each comes\n",
        .run = sort_run,
    },
    {
        NAMED("bits"),
        .bit = COMMAND_BITS,
        .summary = "keep integers in a bitmap: add, check, list, count, and, or, andnot",
        .brief = "invert count",
        .usage = "unseen bits add|remove|check BITMAP [FILE]...",
        .usage_too = "unseen bits list|count BITMAP [RANGE]... | and|or|andnot NEW A B...",
        .about = "Keep a set of integers from 0 to 1099511627775 (below 2^40) in the file BITMAP,\n"
                 "exact, a bit for each. add makes BITMAP if it does not exist; check prints the\n"
                 "lines of the input that are in it; list prints and count counts all, or those\n"
                 "of each range, such as 0-999. and, or and andnot make NEW of what is in all of\n"
                 "the bitmaps, in at least one, or in the first and in no other. A change is done\n"
                 "as a whole, or not at all.\n",
        .examples = "  unseen bits add ids.bits ids.txt\n"
                    "  unseen bits check -v ids.bits < ids.txt     which are not in it\n"
                    "  unseen bits and both.bits mon.bits tue.bits who came on both days\n"
                    "  unseen bits count ids.bits 0-999 1000-1999\n"
                    "  unseen import --format redis-bitmap ids.bits dump.bin\n",
        .statuses = "0 done, for check some line printed; 1 none (check);\n2 trouble",
        .run = bits_run,
    },
    {
        NAMED("serve"),
        .bit = COMMAND_SERVE,
        .summary = "answer another program from a store or a list, request by request",
        .brief = "protocol listen dry-run",
        .use = {.makes_store = true},
        .usage = "unseen serve [OPTION]... STORE",
        .about =
            "Answer requests on standard input, a line each, with a line each on standard\n"
            "output: the store as a co-process of a program in any language. STORE is made\n"
            "if it does not exist. After a greeting, these are answered in order:\n"
            "\n"
            "  A URL    add it: 1 it is new, 0 it was seen\n"
            "  C URL    ask only: 1 it is in the store, 0 it is not\n"
            "  R URL    remove it: 1 it was there, 0 it was not\n"
            "  B N A    the same (or C, R) for each of the N lines that follow: one line\n"
            "           of N characters 1, 0 or E (an error)\n"
            "  F        OK when all that was answered is on the disk\n"
            "  I        what unseen info --json prints\n"
            "\n"
            "With --listen any number of clients do the same at once, and of all that add a\n"
            "URL exactly one is told that it is new. L, D, G, N and X are about leases, O and\n"
            "T about the connection, S about the server: see unseen-serve(1).\n"
            "\n"
            "What cannot be answered gets E and why. With --protocol another program asks\n"
            "what is in STORE, in its own words, and nothing is changed. STORE may be a list\n"
            "(unseen build), which only answers questions.\n",
        .examples = "  printf 'A http://e.com/\\nF\\n' | unseen serve visited.unseen\n"
                    "  unseen serve -p none users.unseen       plain bytes, not URLs\n"
                    "  unseen serve visited.unseen --listen unix:/run/unseen.sock\n"
                    "  unseen serve -n visited.unseen          while another process writes to it\n"
                    "  unseen serve --protocol postfix-policy --listen 127.0.0.1:9998 mail.list\n",
        .ending = "The end of the input, SIGINT and SIGTERM end it in order.",
        .statuses = "0 done and all on the disk, 2 trouble",
        .run = serve_run,
    },
    {
        NAMED("count"),
        .bit = COMMAND_COUNT,
        .summary = "count distinct lines, in all or by groups",
        .brief = "by key profile",
        .use = {.list_hint = "unseen info %s"},
        .usage = "unseen count [OPTION]... [FILE]...",
        .about = "Print how many distinct lines the files have together. Lines that are the same\n"
                 "URL are the same line. With --by, print a line for each group, in the order in\n"
                 "which they first came: the number of distinct lines (with -k: of distinct keys)\n"
                 "in that group, a tab, and its name.\n",
        .examples =
            "  unseen count urls.txt                   as unseen -c\n"
            "  unseen count --by host urls.txt         distinct URLs of each host\n"
            "  unseen count -k 1 --by 2 log.tsv        distinct URLs of each day, fields 1, 2\n"
            "  unseen count -p none -k .user --by .day log.jsonl\n"
            "                                          users of each day\n"
            "  unseen count -k 1 --by 2 --returning log.tsv\n"
            "                                          and how many of them came before\n"
            "  unseen count mon.unseen tue.unseen      URLs of both stores together\n"
            "  unseen count --both mon.unseen tue.unseen\n"
            "                                          URLs that are in both\n",
        .ending = " If one cannot be read, nothing is printed.",
        .run = count_run,
    },
    {
        NAMED("build"),
        .bit = COMMAND_BUILD,
        .summary = "make a list of lines, as a blacklist: 13.5 bits an entry",
        .brief = "kind expressions fpr known-good from",
        .usage = "unseen build [OPTION]... LIST [FILE]...",
        .about = "Build LIST from the lines of the input: a file that can be asked quickly, of\n"
                 "about 13.5 bits for each entry, with one wrong answer in 10,000. A LIST that is\n"
                 "there is replaced when the new one is complete, and not before: an interrupted\n"
                 "build changes nothing. Comments (#, ;, !), blank lines and the addresses of a\n"
                 "hosts file are left out. A line that is not an entry, or that would cover far\n"
                 "too much (/, com), is an error.\n",
        .examples =
            "  unseen build bad.list urls*.txt.gz      one URL a line\n"
            "  unseen build --expressions sites.list sites.txt\n"
            "                                          sites, folders, pages: all below them\n"
            "  unseen build --kind ip --fpr 1e-6 ip.list networks.txt\n"
            "  unseen build -k 2 -t , bad.list log.csv\n"
            "  unseen build --known-good good.txt bad.list urls.txt\n"
            "                                          never list what is in good.txt\n"
            "  unseen build --from bad.list bad.list urls.txt\n"
            "                                          anew, with what was changed since\n",
        .ending = " SIGUSR1 prints how far it is.",
        .run = build_run,
    },
    {
        NAMED("plan"),
        .bit = COMMAND_PLAN,
        .summary = "compare filters: memory, rates, how many keys fit",
        .brief = "capacity fpr memory",
        .usage = "unseen plan [OPTION]...",
        .about = "Print what each filter takes for a number of keys and a rate of wrong answers:\n"
                 "bits per key, bytes, hashes (k), the rates to expect at 10, 50, 100 and 200 %\n"
                 "of the capacity, and what it can do. Or the other way round: which rate, or how\n"
                 "many keys, some bits or bytes are good for.\n",
        .examples = "  unseen plan --capacity 1e10 --fpr 1e-4\n"
                    "  unseen plan --bits 20 --hashes 10         the other way: 8.89e-5\n"
                    "  unseen plan --memory 4G --fpr 1e-4        how many keys fit\n"
                    "  unseen plan --capacity 1e9 --memory 2G    which rate can be had\n"
                    "  unseen plan --capacity 1e7 --fpr 1e-4 --svg plan.svg\n",
        .statuses = "0 done, 1 no filter can do it, 2 trouble",
        .run = plan_run,
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
