// SPDX-License-Identifier: MIT

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Every method of the client, with two servers killed on the way (see examples.sh); or with a
 * number N: how many URLs a second are answered, N one at a time and N in batches of 500.
 */
public final class Exercise {
    private static final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);

    private interface Question {
        void ask() throws IOException;
    }

    private static void refused(Question question) {
        try {
            question.ask();
        } catch (IllegalArgumentException e) {
            out.println("refused");
        } catch (IOException e) {
            out.println("error " + e.getMessage());
        }
    }

    private static ProcessHandle server() throws IOException {
        return ProcessHandle.of(Long.parseLong(Files.readString(Path.of("pid")).trim())).orElseThrow();
    }

    private static void kill() throws IOException {
        server().destroyForcibly();
    }

    /** Sends SIGTERM, and waits until the server has ended. */
    private static void end() throws IOException {
        ProcessHandle server = server();
        server.destroy();
        server.onExit().join();
    }

    private static int sum(boolean[] marks) {
        int n = 0;
        for (boolean mark : marks) {
            n += mark ? 1 : 0;
        }
        return n;
    }

    private static void exercise(String store) throws IOException {
        Unseen visited = new Unseen(store, "--seed", "1");
        out.println(visited.hello());
        out.println("new " + visited.isNew("http://e.com/1") + " " + visited.isNew("HTTP://E.com/1#x"));
        out.println("seen " + visited.seen("http://e.com/1") + " " + visited.seen("http://e.com/2"));
        out.println("remove " + visited.remove("http://e.com/1") + " " + visited.remove("http://e.com/1"));
        out.print("batch");
        for (boolean mark : visited.areNew(List.of("http://e.com/1", "http://e.com/\u00e9", "http://e.com/1", ""))) {
            out.print(" " + mark);
        }
        boolean[] known = visited.areSeen(List.of("http://e.com/1", "http://e.com/2"));
        out.println("\nseen batch " + known[0] + " " + known[1]);
        out.println("empty " + visited.areNew(List.of()).length);
        out.println(visited.info().replaceAll(".*\"(keys)\":([0-9]+).*", "$1 $2"));
        refused(() -> visited.isNew("a\nb"));
        refused(() -> visited.areNew(List.of("a", "b\n")));
        refused(() -> visited.isNew("x".repeat(2000000)));
        visited.flush();
        kill();
        out.println("killed " + visited.seen("http://e.com/\u00e9") + " " + visited.isNew("http://e.com/3"));
        visited.flush();
        kill();
        List<String> many = new ArrayList<>();
        for (int i = 0; i < 100000; i++) {
            many.add("http://e.com/" + i);
        }
        out.println("killed " + sum(visited.areNew(many)));
        visited.close();
        try (Unseen again = new Unseen(store)) {
            out.println("again " + sum(again.areNew(many)));
        }
        try (Unseen missing = new Unseen("missing/store")) {
            out.println(missing.hello());
        } catch (IOException e) {
            out.println("not started");
        }
        String tool = System.setProperty("unseen.tool", "/missing/unseen");
        try (Unseen missing = new Unseen(store)) {
            out.println(missing.hello());
        } catch (IOException e) {
            String start = "cannot start /missing/unseen: ";
            out.println(e.getMessage().startsWith(start) && e.getMessage().contains("install it") ? "install it" : e);
        }
        System.setProperty("unseen.tool", tool);
        try (Unseen ended = new Unseen(store)) {
            end();
            out.println("ended " + ended.seen("http://e.com/1"));
            end();
        }
        out.println("closed");
    }

    private static int count(boolean... answers) {
        int n = 0;
        for (boolean answer : answers) {
            n += answer ? 1 : 0;
        }
        return n;
    }

    private static int leases(Unseen visited) throws IOException {
        return Integer.parseInt(visited.stats().replaceAll(".*\"leases\": *([0-9]+).*", "$1"));
    }

    private static void leases(String store) throws IOException {
        try (Unseen visited = new Unseen(store)) {
            String first = visited.lease("http://lease/1", 60).token();
            Unseen.Lease known = visited.lease("http://e.com/1", 60);
            out.println("lease " + (first != null) + " " + visited.lease("http://lease/1", 60).anotherHasIt() + " "
                    + (known.token() == null && !known.anotherHasIt()));
            out.println("renew " + count(visited.renew(60, first)) + " " + count(visited.renew(60, "1.1")));
            int done = count(visited.done(first), visited.done(first));
            known = visited.lease("http://lease/1", 60);
            out.println("done " + done + " " + (known.token() == null && !known.anotherHasIt()));
            var tokens = new ArrayList<String>();
            int back = 0;
            for (int i = 0; i < 1200; i++) {
                tokens.add(visited.lease("http://lease/\u00e9/" + i, 60).token());
                back += i > 0 ? count(visited.giveBack(tokens.get(i))) : 0;
            }
            out.println("leases " + tokens.stream().distinct().count() + " " + back + " " + leases(visited));
            visited.flush(); // what is done and not on the disk is handed out again
            kill();
            var left = visited.take(1000, 60);
            left.addAll(visited.take(1000, 60));
            boolean has = left.stream().anyMatch(lease -> lease.url().equals("http://lease/\u00e9/0"));
            out.println("take " + left.size() + " " + has + " " + count(visited.done(tokens.get(0))));
            done = 0;
            for (Unseen.Lease lease : left) {
                done += count(visited.done(lease.token()));
            }
            out.println("done " + done + " " + visited.take(10, 60) + " " + leases(visited));
            refused(() -> visited.lease("a\nb", 60));
            refused(() -> visited.lease("http://lease/2", 0));
        }
    }

    private static void measure(String store, int n) throws IOException {
        List<String> urls = new ArrayList<>();
        for (int i = 0; i < 2 * n; i++) {
            urls.add("http://www.example.com/section/page-" + i + ".html");
        }
        try (Unseen visited = new Unseen(store)) {
            long start = System.nanoTime();
            for (String url : urls.subList(0, n)) {
                visited.isNew(url);
            }
            long middle = System.nanoTime();
            for (int i = n; i < 2 * n; i += 500) {
                visited.areNew(urls.subList(i, i + 500));
            }
            long end = System.nanoTime();
            out.printf("one at a time %.0f/s, batches %.0f/s%n", 1e9 * n / (middle - start), 1e9 * n / (end - middle));
        }
    }

    public static void main(String[] args) throws IOException {
        if (args.length == 1) {
            exercise(args[0]);
            leases(args[0]);
        } else {
            measure(args[0], Integer.parseInt(args[1]));
        }
    }
}
