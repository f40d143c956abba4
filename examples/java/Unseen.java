// SPDX-License-Identifier: MIT

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Have I seen this URL before? A client of {@code unseen serve}, whose protocol is in
 * docs/serve.md.
 *
 * <pre>
 * try (Unseen visited = new Unseen("visited.unseen")) {
 *     if (visited.isNew(url)) fetch(url);
 * }
 * </pre>
 *
 * The client starts a server of its own for the store. {@code new Unseen("unix:/run/unseen.sock")} and
 * {@code new Unseen("127.0.0.1:7007")} connect to a server that many programs use; the token of a port
 * is the system property unseen.token.
 *
 * <p>If the server dies, the client starts a new server, or connects again, and sends all unanswered
 * requests again: the old server had not remembered them. Ctrl-C and SIGTERM, which often reach the
 * server too, end it in order. Any number of threads may use an object of this class.
 *
 * <p>A worker that may die leases its URLs: {@code lease}, and {@code done} when the page is stored. What it
 * leaves, others {@code take}.
 */
public final class Unseen implements AutoCloseable {
    private final List<String> command = new ArrayList<>(List.of("unseen", "serve"));
    private static final long RECONNECT = 10_000; // milliseconds that a server may take to come back
    private final String address; // of a server that others use, too; or null
    private Process server;
    private SocketChannel connection;
    private OutputStream requests;
    private InputStream answers;
    private String hello;
    private boolean closed;

    /** Opens the store in a file, which is made if it does not exist, or connects to an address. */
    public Unseen(String store, String... options) throws IOException {
        command.set(0, System.getProperty("unseen.tool", "unseen"));
        command.addAll(List.of(options));
        command.add(store);
        address = store.matches("unix:.+|(\\[[0-9a-f:.]+\\]|[0-9.]*):[0-9]+") ? store : null;
        start();
    }

    private void start() throws IOException {
        long until = System.currentTimeMillis() + (hello == null ? 0 : RECONNECT);
        if (address == null) {
            spawn();
        } else {
            connect(until);
        }
        hello = readLine();
        while (hello == null && address != null && System.currentTimeMillis() < until) {
            stop(); // the server has died before its greeting
            pause();
            connect(until);
            hello = readLine();
        }
        if (hello == null) {
            throw new IOException(command + " did not start: exit status " + stop());
        }
        String token = System.getProperty("unseen.token");
        if (hello.startsWith("E ") || (address != null && token != null && !"OK".equals(tell("T " + token + "\n")))) {
            throw new IOException(address + (hello.startsWith("E ") ? hello.substring(1) : " does not take the token"));
        }
    }

    private void connect(long until) throws IOException {
        int colon = address.lastIndexOf(':');
        String host = address.substring(0, colon).replaceAll("[\\[\\]]", "");
        while (true) {
            try {
                connection = address.startsWith("unix:")
                        ? SocketChannel.open(UnixDomainSocketAddress.of(address.substring(5)))
                        : SocketChannel.open(new InetSocketAddress(host.isEmpty() ? "127.0.0.1" : host,
                                Integer.parseInt(address.substring(colon + 1))));
                break;
            } catch (IOException e) {
                if (System.currentTimeMillis() >= until) {
                    throw new IOException("cannot connect to " + address, e);
                }
                pause();
            }
        }
        requests = Channels.newOutputStream(connection);
        answers = new BufferedInputStream(Channels.newInputStream(connection));
    }

    private static void pause() throws IOException {
        try {
            Thread.sleep(100);
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    private void spawn() throws IOException {
        try {
            server = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        } catch (IOException e) {
            throw new IOException("cannot start " + command.get(0)
                    + ": install it, or say where it is by -Dunseen.tool=", e);
        }
        requests = server.getOutputStream();
        answers = new BufferedInputStream(server.getInputStream());
    }

    private int stop() throws IOException {
        try {
            requests.close();
        } catch (IOException e) {
            // It has ended. What was not sent is sent again.
        }
        try {
            return server == null ? 0 : server.waitFor();
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    /** The next line of the server; null if the server ended before a whole line. */
    private String readLine() throws IOException {
        var line = new ByteArrayOutputStream();
        try {
            for (int c; (c = answers.read()) != '\n'; line.write(c)) {
                if (c < 0) {
                    return null;
                }
            }
        } catch (SocketException e) {
            return null;
        }
        return line.toString(StandardCharsets.UTF_8);
    }

    /** Sends a request and reads the answer; null if the server has ended. */
    private String tell(String request) throws IOException {
        try {
            requests.write(request.getBytes(StandardCharsets.UTF_8));
            requests.flush();
        } catch (IOException e) {
            // It has ended, perhaps after an answer.
        }
        return readAnswer(request);
    }

    /** The lines of an answer. Only the answer to X, a number of lines, has more than one. */
    private String readAnswer(String request) throws IOException {
        String answer = readLine();
        int more = answer != null && request.startsWith("X ") && answer.matches("[0-9]+") ? Integer.parseInt(answer) : 0;
        var lines = new StringBuilder();
        for (String line = answer; line != null; line = readLine()) {
            lines.append(lines.length() > 0 ? "\n" : "").append(line);
            if (more-- == 0) {
                return lines.toString();
            }
        }
        return null;
    }

    private synchronized String ask(String request, long lines) throws IOException {
        if (request.chars().filter(c -> c == '\n').count() != lines) {
            throw new IllegalArgumentException("a URL with a newline in it");
        }
        if (closed) {
            throw new IOException("the store is closed");
        }
        for (int i = 0; i < 2; i++) {
            String answer = tell(request);
            if (answer != null && answer.startsWith("E ")) {
                throw new IOException(answer.substring(2));
            }
            if (answer != null) {
                return answer;
            }
            stop();
            start();
        }
        throw new IOException("unseen serve died twice of one request");
    }

    /** The greeting of the server. */
    public String hello() {
        return hello;
    }

    /** Adds the URL; true if it was new. */
    public boolean isNew(String url) throws IOException {
        return ask("A " + url + "\n", 1).equals("1");
    }

    /** True if the URL is in the store. Changes nothing. */
    public boolean seen(String url) throws IOException {
        return ask("C " + url + "\n", 1).equals("1");
    }

    /** Forgets the URL; true if it was there. */
    public boolean remove(String url) throws IOException {
        return ask("R " + url + "\n", 1).equals("1");
    }

    /** A mark for each URL: 1, 0, or E for a URL that the server cannot take. */
    private String askBatch(String letter, List<String> urls) throws IOException {
        String head = "B " + urls.size() + " " + letter + "\n";
        return urls.isEmpty() ? "" : ask(head + String.join("\n", urls) + "\n", urls.size() + 1L);
    }

    /** isNew for up to 10^6 URLs (65,536 of a shared server), many times as fast. A URL that the server cannot take is new. */
    public boolean[] areNew(List<String> urls) throws IOException {
        String marks = askBatch("A", urls);
        var result = new boolean[marks.length()];
        for (int i = 0; i < marks.length(); i++) {
            result[i] = marks.charAt(i) == '1' || marks.charAt(i) == 'E';
        }
        return result;
    }

    /** seen for up to 10^6 URLs, many times as fast. A URL that the server cannot take is not seen. */
    public boolean[] areSeen(List<String> urls) throws IOException {
        String marks = askBatch("C", urls);
        var result = new boolean[marks.length()];
        for (int i = 0; i < marks.length(); i++) {
            result[i] = marks.charAt(i) == '1';
        }
        return result;
    }

    /** A URL and its token; the token is null if the URL was seen, or if another worker has it. */
    public record Lease(String url, String token, boolean anotherHasIt) {
    }

    /** Leases the URL, if it is new, for so many seconds. */
    public Lease lease(String url, int seconds) throws IOException {
        String answer = ask("L " + seconds + " " + url + "\n", 1);
        return new Lease(url, answer.startsWith("1 ") ? answer.substring(2) : null, answer.equals("leased"));
    }

    /** The URL of the token is in the store now; false if the token was late. */
    public boolean done(String token) throws IOException {
        return ask("D " + token + "\n", 1).equals("OK");
    }

    /** Others may have the URL of the token; false if it was late. */
    public boolean giveBack(String token) throws IOException {
        return ask("G " + token + "\n", 1).equals("OK");
    }

    /** The lease ends so many seconds from now; false if it was late. */
    public boolean renew(int seconds, String token) throws IOException {
        return ask("N " + seconds + " " + token + "\n", 1).equals("OK");
    }

    /** Leases at most n (1,000) URLs that were given back or whose workers died. */
    public List<Lease> take(int n, int seconds) throws IOException {
        var leases = new ArrayList<Lease>();
        String[] lines = ask("X " + n + " " + seconds + "\n", 1).split("\n");
        for (int i = 1; i < lines.length; i++) {
            String[] words = lines[i].split(" ", 2);
            leases.add(new Lease(words[1], words[0], false));
        }
        return leases;
    }

    /** Returns when everything answered so far would survive a power cut. */
    public void flush() throws IOException {
        ask("F\n", 1);
    }

    /** What the server knows of the store, as JSON. */
    public String info() throws IOException {
        return ask("I\n", 1);
    }

    /** What the server did, as JSON: clients, questions, leases and others. */
    public String stats() throws IOException {
        return ask("S\n", 1);
    }

    /** Ends the server, which remembers everything first, or the connection. */
    @Override
    public synchronized void close() throws IOException {
        if (closed) {
            return;
        }
        closed = true;
        int status = stop();
        // SIGINT and SIGTERM end a server in order, and then it dies of the signal: 128 and its number.
        if (status != 0 && status != 130 && status != 143) {
            throw new IOException("unseen serve ended with status " + status);
        }
    }
}
