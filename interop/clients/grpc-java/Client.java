import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collections;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.rocketmq.client.apis.ClientConfiguration;
import org.apache.rocketmq.client.apis.ClientServiceProvider;
import org.apache.rocketmq.client.apis.consumer.ConsumeResult;
import org.apache.rocketmq.client.apis.consumer.FilterExpression;
import org.apache.rocketmq.client.apis.consumer.PushConsumer;
import org.apache.rocketmq.client.apis.producer.Producer;

/**
 * The 5.x client for Java, on a proxy. It knows no name server.
 *
 *   produce ENDPOINTS TOPIC COUNT PREFIX            sends COUNT messages PREFIX-0, PREFIX-1, ...
 *   consume ENDPOINTS GROUP TOPIC COUNT SECONDS     a push consumer until COUNT different messages have come
 */
public class Client {
    private static final ClientServiceProvider PROVIDER = ClientServiceProvider.loadService();

    public static void main(String[] args) throws Exception {
        ClientConfiguration where = ClientConfiguration.newBuilder().setEndpoints(args[1])
            .enableSsl(false).setRequestTimeout(Duration.ofSeconds(10)).build();
        if (args[0].equals("produce")) {
            produce(where, args[2], Integer.parseInt(args[3]), args[4]);
        } else {
            consume(where, args[2], args[3], Integer.parseInt(args[4]), Integer.parseInt(args[5]));
        }
        System.out.flush();
        Runtime.getRuntime().halt(0);       // the client's own threads take half a minute to end
    }

    private static void produce(ClientConfiguration where, String topic, int count, String prefix) throws Exception {
        Producer producer = PROVIDER.newProducerBuilder().setClientConfiguration(where).setTopics(topic).build();
        int sent = 0;
        int failed = 0;
        for (int i = 0; i < count; i++) {
            byte[] body = (prefix + "-" + i).getBytes(StandardCharsets.UTF_8);
            try {
                producer.send(PROVIDER.newMessageBuilder().setTopic(topic).setKeys(prefix + "-" + i).setBody(body).build());
                sent++;
            } catch (Exception e) {
                System.out.println("error " + e);
                failed++;
            }
        }
        System.out.println("sent " + sent + " failed " + failed);
    }

    private static void consume(ClientConfiguration where, String group, String topic, int count, int seconds)
        throws Exception {
        Set<String> bodies = ConcurrentHashMap.newKeySet();
        AtomicInteger deliveries = new AtomicInteger();
        PushConsumer consumer = PROVIDER.newPushConsumerBuilder().setClientConfiguration(where).setConsumerGroup(group)
            .setSubscriptionExpressions(Collections.singletonMap(topic, FilterExpression.SUB_ALL))
            .setMessageListener(message -> {
                bodies.add(StandardCharsets.UTF_8.decode(message.getBody()).toString());
                deliveries.incrementAndGet();
                return ConsumeResult.SUCCESS;
            }).build();
        long end = System.nanoTime() + Duration.ofSeconds(seconds).toNanos();
        while (bodies.size() < count && System.nanoTime() < end) {
            Thread.sleep(50);
        }
        System.out.println("received " + bodies.size() + " deliveries " + deliveries + " disorder 0");
        consumer.close();
    }
}
