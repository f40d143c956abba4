/* SPDX-License-Identifier: MIT
 *
 * The command line tool `unseen`: finds the command, parses its options and runs it. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <unseen.h>

#include "options/options.h"
#include "print/message.h"
#include "system_limits.h"

/* If the program is started without standard input or output, a data file must not get that
 * descriptor. The stand-in fails as the missing one would: it cannot be read, or not be written. */
static bool fill_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
            open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_WRONLY) != fd) {
            return false;
        }
    }
    return true;
}

/* True if the command has nothing to work on: the user wants to know what it is. */
static bool lacks_input(const struct options *o)
{
    if ((o->command->bit & COMMAND_ON_STORE) && !o->seen.path) {
        return true;
    }
    if (o->command->bit & COMMAND_PLAN) {
        const struct question *q = &o->plan.question;
        return o->input.nfiles == 0 && !o->plan.filter && q->capacity == 0 && q->memory == 0 &&
               q->hashes == 0 && !(q->fpr > 0) && !(q->bits_per_key > 0);
    }
    if (o->command->bit & COMMAND_UPDATE || o->list.lists_allowed) {
        return false; /* options name the files, or there are no files */
    }
    if (o->command->bit & COMMAND_SERVE) {
        return false; /* a person may type requests */
    }
    return o->input.none_named ? isatty(STDIN_FILENO) : o->input.nfiles == 0;
}

static int run_command(const struct command *command, int argc, char **argv)
{
    struct options o;
    enum unseen_cpu cpu = UNSEEN_CPU_AUTO;
    int status = EXIT_TROUBLE;
    switch (options_parse(&o, command, argc, argv)) {
    case OPTIONS_DONE:
        status = EXIT_DONE;
        break;
    case OPTIONS_WRONG:
        break;
    case OPTIONS_RUN:
        message_setup(o.report.color, false);
        if (lacks_input(&o)) {
            help_usage(command);
        } else if (cpu_from_environment(&cpu)) {
            status = command->run(&o, cpu);
        }
    }
    options_release(&o);
    return status;
}

int main(int argc, char **argv)
{
    if (!fill_descriptors()) {
        return EXIT_TROUBLE;
    }
    message_setup(WHEN_AUTO, false);
    if (!system_limits_prepare()) {
        message_error("the limit of the stack is too low");
        message_hint("ulimit -s 1024");
        return EXIT_TROUBLE;
    }
    if (argc > 1 && strcmp(argv[1], "help") == 0) {
        return help_run(argc - 1, argv + 1);
    }
    if (argc > 1 && strcmp(argv[1], "__complete") == 0) {
        return complete_run(argc - 2, argv + 2);
    }
    if (argc == 3 && strcmp(argv[1], "__man") == 0) {
        return manual_run(argv[2]);
    }
    const struct command *command = argc > 1 ? command_find(argv[1]) : NULL;
    if (!command && argc > 1 && unknown_command(argc, argv)) {
        return EXIT_TROUBLE;
    }
    return command ? run_command(command, argc - 1, argv + 1)
                   : run_command(command_at(0), argc, argv);
}
