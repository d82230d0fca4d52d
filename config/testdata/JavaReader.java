// Writes java-properties.jsonl: what java.util.Properties makes of many small texts,
// one JSON array a line: the text, then null for a text that it refuses or an array of
// key, value, key, value. Run with:
//   java -Dfile.encoding=UTF-8 JavaReader.java > java-properties.jsonl
// The file beside this one was written by OpenJDK 17.
import java.io.StringReader;
import java.util.*;

public class JavaReader {
    static final String[] BY_HAND = {
        "", "\n", "a", "a=1", "a:1", "a 1", "a\t1", "a\f1", "a = 1", "a : 1", "a=:1", "a:=1", "a = = b", "  a  ", "\ta=1", "=x", "=", ":", " = x",
        "a=1 ", "a= 1\t", "a=\\ 1", "a\\=b=c", "a\\ b c", "a\\:b:c", "#a=1", " # a=1", "!a=1", "a=#1", "a=b#c", "\\#a=1", "#x\\\na=1", "!x\n#y\\\nb=1",
        "a=1\nb=2", "a=1\r\nb=2", "a=1\rb=2", "a=1\r\rb=2", "a=1\n\rb=2", "a=1\\\nb=2", "a=1\\\r\n  2\r\nb=3", "a=1\\\r2\nb=3", "a=1\\\n\\\n2", "a=1\\\\\nb=2",
        "a=1\\\n\nb=2", "a=1\\\n   \nb=2", "a=b\\\n#c", "ke\\\n y=1", "\\\n  a=1", "\\\n#a=1", "\\\n\n#a=1", "a=x\\", "a\\", "\\", "a\\\n=1", "a\\\n 1", "a =\\\n 1",
        "a=\\t\\n\\r\\f", "a=\\q\\z\\0", "a=\\u0041", "a=\\u00e9", "a=\\u4e2d", "a=\\ud83d\\ude00", "a=\\ud83d", "a=\\ude00\\ud83d", "a=\\ud83dx", "\\u0061=1",
        "a=\\u12", "a=\\u00zz", "a=\\uu0041", "a=\\u", "\\u00=1", "a=\\U0041", "a=\\\\u0041", "#\\u00zz\na=1", "a=1\na=2", "a=\u00e9", "\u00e9=1", "a=\u4e2d\u6587",
        "product\\\n   EnvName=joined", "product\\u0045nvName=escaped key", "productEnvName=bad\\u00zz", "a=\\u0020 1 ", "a=\\u000a", "a\\u003d=1", "a\\u0020b=1",
        "a=\\\n", "a=\\\n\\", "a=\\\r\n\\\r\n1", "\f\n a=1", "a\u00a0=1", "a\u000b=1", "a=1\u0085b=2", "a=1\u2028b=2",
    };

    static String json(String s) {
        StringBuilder b = new StringBuilder("\"");
        for (char c : s.toCharArray()) {
            if (c == '"' || c == '\\') b.append('\\').append(c);
            else if (c < 0x20 || c > 0x7e) b.append(String.format("\\u%04x", (int) c));
            else b.append(c);
        }
        return b.append('"').toString();
    }

    public static void main(String[] args) throws Exception {
        List<String> texts = new ArrayList<>(Arrays.asList(BY_HAND));
        Random random = new Random(1);
        String alphabet = "\\\\\\\\===::  \t\f\n\n\r\r##!uu00419abcABCx\u00e9\u4e2d";
        for (int i = 0; i < 1500; i++) {
            StringBuilder b = new StringBuilder();
            for (int n = 1 + random.nextInt(16); n > 0; n--) b.append(alphabet.charAt(random.nextInt(alphabet.length())));
            texts.add(b.toString());
        }
        for (String text : texts) {
            Properties p = new Properties();
            String answer;
            try {
                p.load(new StringReader(text));
                StringJoiner j = new StringJoiner(",", "[", "]");
                for (Map.Entry<Object, Object> e : new TreeMap<Object, Object>(p).entrySet()) j.add(json((String) e.getKey())).add(json((String) e.getValue()));
                answer = j.toString();
            } catch (IllegalArgumentException e) {
                answer = "null";
            }
            System.out.println("[" + json(text) + "," + answer + "]");
        }
    }
}
