/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guava.java - where Guava itself puts keys. Each line of stdin is HASH, BUCKETS, and the key's bytes
 * in hexadecimal (with "none" a number), parted by blanks; each line of stdout is the bucket.
 */
import com.google.common.hash.HashFunction;
import com.google.common.hash.Hashing;
import com.google.common.io.BaseEncoding;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.Map;

final class Guava {
    private static final Map<String, HashFunction> HASHES =
            Map.of("murmur3_128", Hashing.murmur3_128(),
                   "sipHash24", Hashing.sipHash24(),
                   "murmur3_32_fixed", Hashing.murmur3_32_fixed(),
                   "sha256", Hashing.sha256(),
                   "crc32c", Hashing.crc32c());

    private static int bucket(String hash, int buckets, String key) {
        if (hash.equals("none")) {
            return Hashing.consistentHash(Long.parseUnsignedLong(key), buckets);
        }
        byte[] bytes = BaseEncoding.base16().lowerCase().decode(key);
        return Hashing.consistentHash(HASHES.get(hash).hashBytes(bytes), buckets);
    }

    public static void main(String[] args) throws IOException {
        StringBuilder out = new StringBuilder();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            String[] word = line.split(" ", -1);
            out.append(bucket(word[0], Integer.parseInt(word[1]), word[2])).append('\n');
        }
        System.out.print(out);
    }
}
