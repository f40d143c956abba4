/* SPDX-License-Identifier: MIT
 *
 * What a Bloom filter loses whose hashes are not independent. Filters of this kind are in many Java
 * tutorials: six positions for each line, every position the AND of one and the same number with a
 * constant. docs/bloom-filters.md says why that fails.
 *
 *     java -Xmx3g bench/HandMade.java < FILE      (lines that are all different)
 */
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.BitSet;

public class HandMade {
    private static final int BITS = 1 << 25;
    private static final int[] SEEDS = {3, 13, 46, 71, 91, 134};

    private static int position(int seed, int hash) {
        return Math.abs(seed * (BITS - 1) & hash);
    }

    public static void main(String[] args) throws IOException {
        BitSet bits = new BitSet(BITS);
        int nlines = 0;
        int nlost = 0;
        try (BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                int hash = line.hashCode() ^ line.hashCode() >>> 16;
                boolean isSeen = true;
                for (int seed : SEEDS) {
                    isSeen &= bits.get(position(seed, hash));
                }
                for (int seed : SEEDS) {
                    bits.set(position(seed, hash));
                }
                nlines++;
                nlost += isSeen ? 1 : 0;
            }
        }
        System.out.println(nlines + " new lines, " + nlost + " taken for seen");
    }
}
