# import: Bloom filters that Guava and DCSO's bloom made, as foreign filters.
# Label: once
. "$(dirname "$0")/lib/common.bash"

# filter_json FILE NAME: a figure of info --json.
figure() { "$UNSEEN" info --json "$1" | sed -E "s/.*\"$2\":([^,}]+).*/\1/"; }

awk 'BEGIN { for (i = 0; i < 20000; i++) printf "http://e.com/%d/\303\244\360\237\230\200%s\n", i, substr("abcdefghijklmnopqrstuvwxyz", 1, i % 27) }' > members
awk 'BEGIN { for (i = 0; i < 200000; i++) printf "http://e.com/other/%d/\303\244\n", i }' > others

# DCSO's program.
if command -v bloom > /dev/null; then
    bloom create -n 20000 -p 0.001 d.bloom
    bloom insert d.bloom < members
    bloom --gzip create -n 20000 -p 0.001 d.bloom.gz
    bloom --gzip insert d.bloom.gz < members
    bloom check d.bloom < others > want
    for file in d.bloom d.bloom.gz -; do
        rm -f d.filter in
        [ $file != - ] || cp d.bloom in
        run import --format dcso d.filter $file
        expect 0 '' ''
        rm -f in
        run check -c d.filter members
        expect 0 '20000\n' ''
        run check d.filter others
        same out want
    done
    holds [ "$(figure d.filter hashes)" = 10 ]
    run verify d.filter
    expect 0 'd.filter: good\n' ''
    # Data that are attached are not dropped in silence.
    echo attached | bloom set-data d.bloom
    run import --format dcso d.filter d.bloom
    expect 0 '' 'unseen: warning: d.bloom: 9 bytes of data that are attached to the filter were left out\n'
    run check -c d.filter members
    expect 0 '20000\n' ''
else
    printf 'skipped: DCSO bloom is not installed (Debian: golang-github-dcso-bloom-cli)\n'
fi

# Guava: both strategies, three funnels.
guava=/usr/share/java/guava.jar:/usr/share/java/failureaccess.jar
if command -v javac > /dev/null && [ -e /usr/share/java/guava.jar ]; then
    cat > Filters.java << 'END'
import com.google.common.hash.*;
import java.io.*;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;

public class Filters {
    static <T> void make(String name, Funnel<? super T> funnel, int strategy, java.util.function.Function<String, T> of) throws Exception {
        Class<?> strategies = Class.forName("com.google.common.hash.BloomFilterStrategies");
        Class<?> type = Class.forName("com.google.common.hash.BloomFilter$Strategy");
        Method create = BloomFilter.class.getDeclaredMethod("create", Funnel.class, long.class, double.class, type);
        create.setAccessible(true);
        @SuppressWarnings("unchecked")
        BloomFilter<T> f = (BloomFilter<T>) create.invoke(null, funnel, 20000L, 0.001, strategies.getEnumConstants()[strategy]);
        for (String line : Files.readAllLines(Paths.get("members"), StandardCharsets.UTF_8)) {
            f.put(of.apply(line));
        }
        try (OutputStream out = new FileOutputStream(name + strategy + ".guava")) {
            f.writeTo(out);
        }
        try (PrintWriter out = new PrintWriter(name + strategy + ".want", "UTF-8")) {
            for (String line : Files.readAllLines(Paths.get("others"), StandardCharsets.UTF_8)) {
                if (f.mightContain(of.apply(line))) {
                    out.print(line + "\n");
                }
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        for (int strategy = 0; strategy < 2; strategy++) {
            make("utf8", Funnels.stringFunnel(StandardCharsets.UTF_8), strategy, s -> s);
            make("utf16", Funnels.unencodedCharsFunnel(), strategy, s -> s);
            make("bytes", Funnels.byteArrayFunnel(), strategy, s -> s.getBytes(StandardCharsets.UTF_8));
        }
    }
}
END
    holds javac -cp $guava Filters.java
    holds java -cp $guava:. Filters
    for funnel in utf8 utf16 bytes; do
        for strategy in 0 1; do
            run import --format guava --funnel $funnel $funnel$strategy.filter $funnel$strategy.guava
            expect 0 '' ''
            run check -c $funnel$strategy.filter members
            expect 0 '20000\n' ''
            run check $funnel$strategy.filter others
            same out $funnel$strategy.want
        done
    done
else
    printf 'skipped: Guava is not installed (Debian: libguava-java default-jdk-headless)\n'
fi

# A small filter by hand: two longs, three hashes, all bits set; and one with no bit set.
printf '\001\003\000\000\000\002\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377' > full.guava
printf '\001\003\000\000\000\002\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000' > empty.guava
run import --format guava --funnel bytes full.filter full.guava
expect 0 '' ''
run import --format guava --funnel bytes empty.filter empty.guava
expect 0 '' ''
printf 'http://a/\nHTTP://A/\n' > list
run check full.filter list
expect 0 'http://a/\nHTTP://A/\n' ''
run check empty.filter list
expect 1 '' ''
run check --why full.filter list
expect 0 'http://a/\tstored\tfull.filter\thttp://a/\nHTTP://A/\tstored\tfull.filter\tHTTP://A/\n' ''
# With -x, beside a set, a store and a list of lines; a key of the line.
run -p none -x full.filter list
expect 0 '' ''
run -p none -x empty.filter list list
expect 0 'http://a/\nHTTP://A/\n' ''
echo http://a/ > old
run -p none -x empty.filter -x old -s s.unseen list
expect 0 'HTTP://A/\n' ''
run -p none -x full.filter -s s.unseen -v list
expect 0 'http://a/\nHTTP://A/\n' ''
printf '1 x\n2 y\n' > rows
run -p none -x empty.filter -k 2 -t ' ' rows
expect 0 '1 x\n2 y\n' ''
# Bytes that are not UTF-8 were never a Java string.
run import --format guava --funnel utf16 wide.filter full.guava
expect 0 '' ''
printf 'a\377\nb\n' > bad
run check wide.filter bad
expect 0 'b\n' ''

# What rewrites, or has no meaning, is refused.
run -x full.filter list
expect 2 '' 'unseen: error: full.filter is a foreign filter, asked with the bytes of each line; the profile crawl/1 rewrites them\nunseen: hint: *\n'
run -p whatwg -s w.unseen -x full.filter list
expect 2 '' 'unseen: error: full.filter is a foreign filter, asked with the bytes of each line; the profile whatwg/1 rewrites them\nunseen: hint: *\n'
run import -p crawl --format guava --funnel utf8 new.filter full.guava
expect 2 '' 'unseen: error: a foreign filter is asked with the bytes of each line, which no profile may rewrite\nunseen: hint: *\n'
run import --filter bloom --format dcso new.filter full.guava
expect 2 '' 'unseen: error: a foreign filter has the filter, the size and the seed of its program\nunseen: hint: *\n'
run import --format guava new.filter full.guava
expect 2 '' "unseen: error: Guava's file does not say its funnel: --funnel bytes, utf8 or utf16\nunseen: hint: *\n"
run import --funnel utf8 new.filter full.guava
expect 2 '' "unseen: error: --funnel is for Guava's filters\nunseen: hint: *\n"
run import --format dcso new.filter full.guava full.guava
expect 2 '' 'unseen: error: one filter becomes one foreign filter\nunseen: hint: unseen import --format dcso new.filter full.guava\n'
holds [ ! -e new.filter ]
cp s.unseen before
run import --format guava --funnel utf8 s.unseen full.guava
expect 2 '' 'unseen: error: s.unseen is not a foreign filter, and is not replaced\nunseen: hint: unseen import --format guava --funnel utf8 NEW.filter FILE\n'
same s.unseen before
for command in add '-p none -s' remove; do
    run $command full.filter list
    expect 2 '' 'unseen: error: full.filter is not a store\nunseen: hint: it is a foreign filter, which takes no lines: unseen -p none -x full.filter list\n'
done
run full.filter
expect 2 '' 'unseen: error: full.filter is a foreign filter, not a file of lines\nunseen: hint: *\n'
run canon full.filter
expect 2 '' 'unseen: error: full.filter is a foreign filter in the format of unseen, not lines that can be read\nunseen: hint: unseen info full.filter\n'
run count full.filter
expect 2 '' 'unseen: error: full.filter is a foreign filter, which has no keys\nunseen: hint: for how many it was made of: unseen info full.filter\n'

# Forged and damaged files get a sentence.
wrong() {
    printf "$1" > forged
    rm -f new.filter
    run import --format $2 new.filter forged
    expect 2 '' "unseen: error: forged is not a filter of the format ${2%% *}: $3\n"
    holds [ ! -e new.filter ]
}
guava='guava --funnel utf8'
head48='\001\000\000\000\000\000\000\000\001\000\000\000\000\000\000\000aaaaaaaa\003\000\000\000\000\000\000\000'
wrong '' "$guava" 'it ends too early'
wrong '\001\003' "$guava" 'it ends too early'
wrong '\002\003\000\000\000\001aaaaaaaa' "$guava" 'it does not begin with a strategy of Guava'
wrong '\001\000\000\000\000\001aaaaaaaa' "$guava" 'its number of bits or of hashes cannot be'
wrong '\001\003\000\000\000\000' "$guava" 'its number of bits or of hashes cannot be'
wrong '\001\003\377\377\377\377aaaaaaaa' "$guava" 'it ends too early'
wrong '\001\003\000\000\000\001aaaaaaaaa' "$guava" 'it goes on behind its bits'
wrong 'a few lines\nof text, which are long enough for a head of 48 bytes\n' dcso "it does not begin with version 1 of DCSO's format"
wrong "$head48\\101\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000aaaaaaaa\\002\\000\\000\\000\\000\\000\\000\\000" dcso 'a bit is set behind its last bit'
wrong "$head48\\377\\377\\377\\377\\377\\377\\377\\377\\000\\000\\000\\000\\000\\000\\000\\000aaaaaaaa" dcso 'its number of bits or of hashes cannot be'
wrong "$head48\\000\\000\\000\\000\\000\\200\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000aaaaaaaa" dcso 'it ends too early'
cp full.filter cut.filter
truncate -s -1 cut.filter
run check cut.filter list
expect 2 '' 'unseen: error: cut.filter: damaged at byte 152\nunseen: hint: to make it anew: unseen import --format FORMAT cut.filter FILE\n'
run verify cut.filter
expect 1 '' '*'
finish
