// Keeps a broker registered at every name server until it is told to end. See README.md. Java 11 or later: java register.java
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

class Register {
    static final String PLACE = "/api/v1/brokers/" + env("BROKER", "bridge-1") + "/members/0";
    static final String STATEMENT = "{\"clusterName\":\"DefaultCluster\",\"brokerAddr\":\"" + env("ADDRESS", "127.0.0.1:10911")
        + "\",\"heartbeatTimeoutMillis\":" + env("TTL", "60000")
        + ",\"topicConfigTable\":{\"Bridged\":{\"readQueueNums\":4,\"writeQueueNums\":4}}}";
    static final Pattern NEXT = Pattern.compile("\"nextHeartbeatMillis\":(\\d+)");
    static final HttpClient CLIENT = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(5)).build();
    static final CountDownLatch OVER = new CountDownLatch(1);

    static String env(String name, String otherwise) {
        return System.getenv().getOrDefault(name, otherwise);
    }

    static HttpResponse<String> ask(String method, String url, String body) throws IOException, InterruptedException {
        return CLIENT.send(HttpRequest.newBuilder(URI.create(url)).timeout(Duration.ofSeconds(10))
            .header("Authorization", "Bearer " + System.getenv("TOKEN")).header("Content-Type", "application/json")
            .method(method, HttpRequest.BodyPublishers.ofString(body)).build(), HttpResponse.BodyHandlers.ofString());
    }

    static void keep(String server) throws InterruptedException {
        boolean known = false;
        int failures = 0;
        while (OVER.getCount() > 0) {
            try {
                HttpResponse<String> answer = known ? ask("POST", server + PLACE + "/heartbeat", "") : ask("PUT", server + PLACE, STATEMENT);
                Matcher next = NEXT.matcher(answer.body());
                if (answer.statusCode() < 300 && next.find()) {
                    known = true;
                    failures = 0;
                    OVER.await((long) (Long.parseLong(next.group(1)) * ThreadLocalRandom.current().nextDouble(0.9, 1.1)), TimeUnit.MILLISECONDS);
                    continue;
                }
                if (answer.statusCode() == 404 && known) { // forgotten, or restarted: register again
                    known = false;
                    continue;
                }
                System.out.println(server + " " + answer.body());
                if (answer.statusCode() < 500 && answer.statusCode() != 429) {
                    return; // 409: another has the place
                }
            } catch (IOException failure) {
                System.out.println(server + " " + failure);
            }
            OVER.await(Math.min(1 << Math.min(failures++, 4), 15), TimeUnit.SECONDS);
        }
        try {
            ask("DELETE", server + PLACE, "");
        } catch (IOException failure) {
            System.out.println(server + " " + failure);
        }
    }

    public static void main(String[] args) {
        List<Thread> threads = new ArrayList<>();
        for (String server : env("NAMESERVERS", "http://127.0.0.1:8876").split(" ")) {
            Thread thread = new Thread(() -> {
                try {
                    keep(server);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
            thread.start();
            threads.add(thread);
        }
        // SIGTERM runs this before the process ends.
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            OVER.countDown();
            for (Thread thread : threads) {
                try {
                    thread.join(15000);
                } catch (InterruptedException e) {
                    return;
                }
            }
        }));
    }
}
