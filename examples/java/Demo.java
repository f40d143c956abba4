// SPDX-License-Identifier: MIT

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Prints the lines of standard input that are new, 500 at a time: java Demo STORE &lt; urls */
public final class Demo {
    public static void main(String[] args) throws IOException {
        if (args.length != 1) {
            System.err.println("usage: java Demo STORE < urls");
            System.exit(2);
        }
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        var out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        try (Unseen visited = new Unseen(args[0])) {
            List<String> batch = new ArrayList<>();
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                batch.add(line);
                if (batch.size() == 500) {
                    print(out, batch, visited.areNew(batch));
                    batch.clear();
                }
            }
            print(out, batch, visited.areNew(batch));
        } catch (IOException e) {
            System.err.println("Demo: " + e.getMessage());
            System.exit(2);
        }
    }

    private static void print(PrintStream out, List<String> urls, boolean[] isNew) {
        for (int i = 0; i < isNew.length; i++) {
            if (isNew[i]) {
                out.print(urls.get(i) + "\n");
            }
        }
        out.flush();
    }
}
