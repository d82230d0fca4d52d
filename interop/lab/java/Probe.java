import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.tools.command.MQAdminStartup;

/**
 * Drives the stock RocketMQ client and admin tool from one warm JVM, since starting a JVM costs seconds. Compiles
 * against 4.8 to 5.x.
 *
 * With arguments it runs that one command. Without, it reads commands from standard input, one a line with tabs
 * between the words, and answers each with its output, every line behind "| ", and then "= ok" or "= fail REASON".
 *
 *   admin ARGS...                                   what mqadmin does with ARGS
 *   queues   NAMESRV TOPIC                          the queues that a producer would publish to
 *   produce  NAMESRV TOPIC COUNT PREFIX             sends COUNT messages PREFIX-0, PREFIX-1, ...
 *   ordered  NAMESRV TOPIC COUNT PREFIX             the same, COUNT messages over 4 keys, each key to one queue
 *   consume  NAMESRV GROUP TOPIC COUNT SECONDS      a push consumer until COUNT different messages have come
 *   consume-ordered NAMESRV GROUP TOPIC COUNT SECONDS   orderly, checking that each key's numbers only rise
 *   traffic  NAMESRV GROUP TOPIC SECONDS STOP [RATE]   sends 20 (or RATE) messages a second and consumes them, whatever
 *                                                   goes on meanwhile, until there is a file STOP or the time is over
 */
public class Probe {
    private static final AtomicLong SERIAL = new AtomicLong();
    private static final int KEYS = 4;

    public static void main(String[] args) throws Exception {
        if (args.length > 0) {
            run(Arrays.asList(args));
            System.exit(0);
        }
        hurryShutdowns(Thread.currentThread());
        PrintStream out = System.out;
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        out.println("= ok");
        out.flush();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            ByteArrayOutputStream taken = new ByteArrayOutputStream();
            PrintStream captured = new PrintStream(taken, true, "UTF-8");
            System.setOut(captured);
            System.setErr(captured);
            String verdict = "= ok";
            try {
                run(Arrays.asList(line.split("\t", -1)));
            } catch (Throwable e) {
                verdict = "= fail " + String.valueOf(e).replace('\n', ' ').replace('\r', ' ');
            }
            captured.flush();
            StringBuilder reply = new StringBuilder();
            for (String text : taken.toString("UTF-8").split("\r?\n")) {
                reply.append("| ").append(text).append('\n');
            }
            out.print(reply.append(verdict).append('\n'));
            out.flush();
        }
        System.exit(0);
    }

    /**
     * A 5.x client's shutdown joins its event thread, which may be 3 s deep in a poll: an interrupt only wakes it to
     * see that it was stopped. Without this most admin commands take those 3 s.
     */
    private static void hurryShutdowns(Thread worker) {
        Thread hurry = new Thread(() -> {
            while (true) {
                try {
                    Thread.sleep(20);
                } catch (InterruptedException e) {
                    return;
                }
                boolean joining = false;
                for (StackTraceElement frame : worker.getStackTrace()) {
                    joining |= frame.getClassName().endsWith(".ServiceThread") && frame.getMethodName().equals("shutdown");
                }
                if (joining) {
                    Thread[] all = new Thread[Thread.activeCount() + 16];
                    Arrays.stream(all, 0, Thread.enumerate(all))
                        .filter(thread -> thread.getName().contains("NettyEventExecutor"))
                        .forEach(Thread::interrupt);
                }
            }
        }, "hurry");
        hurry.setDaemon(true);
        hurry.start();
    }

    private static void run(List<String> words) throws Exception {
        List<String> rest = words.subList(1, words.size());
        switch (words.get(0)) {
            case "admin":
                MQAdminStartup.main(rest.toArray(new String[0]));
                break;
            case "queues":
                queues(rest.get(0), rest.get(1));
                break;
            case "produce":
                produce(rest.get(0), rest.get(1), Integer.parseInt(rest.get(2)), rest.get(3), false);
                break;
            case "ordered":
                produce(rest.get(0), rest.get(1), Integer.parseInt(rest.get(2)), rest.get(3), true);
                break;
            case "consume":
                consume(rest.get(0), rest.get(1), rest.get(2), Integer.parseInt(rest.get(3)),
                    Integer.parseInt(rest.get(4)), false);
                break;
            case "consume-ordered":
                consume(rest.get(0), rest.get(1), rest.get(2), Integer.parseInt(rest.get(3)),
                    Integer.parseInt(rest.get(4)), true);
                break;
            case "traffic":
                traffic(rest.get(0), rest.get(1), rest.get(2), Integer.parseInt(rest.get(3)), Paths.get(rest.get(4)),
                    rest.size() > 5 ? Integer.parseInt(rest.get(5)) : 20);
                break;
            default:
                throw new IllegalArgumentException("no such command: " + words.get(0));
        }
    }

    private static DefaultMQProducer producer(String namesrv) throws Exception {
        DefaultMQProducer producer = new DefaultMQProducer("probe_producer");
        if (!namesrv.startsWith("http://")) {   // else the JVM was told the domain
            producer.setNamesrvAddr(namesrv);
        }
        producer.setInstanceName("probe" + SERIAL.incrementAndGet());
        producer.setVipChannelEnabled(false);
        producer.setSendMsgTimeout(5000);
        producer.setRetryTimesWhenSendFailed(3);
        producer.start();
        return producer;
    }

    private static void queues(String namesrv, String topic) throws Exception {
        DefaultMQProducer producer = producer(namesrv);
        try {
            List<MessageQueue> found = new ArrayList<>(producer.fetchPublishMessageQueues(topic));
            Collections.sort(found);
            for (MessageQueue queue : found) {
                System.out.println(queue.getBrokerName() + " " + queue.getQueueId());
            }
        } finally {
            producer.shutdown();
        }
    }

    private static void produce(String namesrv, String topic, int count, String prefix, boolean ordered)
        throws Exception {
        DefaultMQProducer producer = producer(namesrv);
        Map<String, Integer> byBroker = new TreeMap<>();
        int failed = 0;
        try {
            for (int i = 0; i < count; i++) {
                String key = String.valueOf(i % KEYS);
                Message message = new Message(topic, "probe", key, (prefix + "-" + i).getBytes(StandardCharsets.UTF_8));
                try {
                    SendResult result = ordered
                        ? producer.send(message, (queues, m, k) -> queues.get((Integer) k % queues.size()), i % KEYS)
                        : producer.send(message);
                    byBroker.merge(result.getMessageQueue().getBrokerName(), 1, Integer::sum);
                    if (result.getSendStatus() != SendStatus.SEND_OK) {
                        System.out.println("status " + result.getSendStatus());
                    }
                } catch (Exception e) {
                    failed++;
                    System.out.println("error " + String.valueOf(e.getMessage()).replace('\n', ' '));
                    if (failed > 5) {
                        break;
                    }
                }
            }
        } finally {
            producer.shutdown();
        }
        byBroker.forEach((broker, n) -> System.out.println("broker " + broker + " " + n));
        System.out.println("sent " + (byBroker.values().stream().mapToInt(Integer::intValue).sum()) + " failed " + failed);
    }

    private static DefaultMQPushConsumer consumer(String namesrv, String group, String topic) throws Exception {
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(group);
        if (!namesrv.startsWith("http://")) {   // else the JVM was told the domain
            consumer.setNamesrvAddr(namesrv);
        }
        consumer.setInstanceName("probe" + SERIAL.incrementAndGet());
        consumer.setVipChannelEnabled(false);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.subscribe(topic, "*");
        return consumer;
    }

    /** What was sent and not received a while after the last message is lost. */
    private static void traffic(String namesrv, String group, String topic, int seconds, Path stop, int rate)
        throws Exception {
        Set<String> seen = ConcurrentHashMap.newKeySet();
        AtomicInteger deliveries = new AtomicInteger();
        String prefix = "traffic-" + group + "-";
        DefaultMQPushConsumer consumer = consumer(namesrv, group, topic);
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            for (MessageExt message : messages) {
                if (new String(message.getBody(), StandardCharsets.UTF_8).startsWith(prefix)) {
                    take(message, seen, deliveries);
                }
            }
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        DefaultMQProducer producer = producer(namesrv);
        int sent = 0;
        int failed = 0;
        long slowest = 0;
        long begin = System.nanoTime();
        long end = begin + TimeUnit.SECONDS.toNanos(seconds);
        for (int i = 0; System.nanoTime() < end && !Files.exists(stop); i++) {
            long before = System.nanoTime();
            try {
                producer.send(new Message(topic, (prefix + i).getBytes(StandardCharsets.UTF_8)));
                sent++;
            } catch (Exception e) {
                failed++;
                System.out.println("error " + String.valueOf(e.getMessage()).replace('\n', ' '));
            }
            slowest = Math.max(slowest, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - before));
            // What one send takes longer, the next ones make up for.
            long early = begin + TimeUnit.SECONDS.toNanos(i + 1) / rate - System.nanoTime();
            if (early > 0) {
                TimeUnit.NANOSECONDS.sleep(early);
            }
        }
        long patience = System.nanoTime() + TimeUnit.SECONDS.toNanos(40);
        while (seen.size() < sent && System.nanoTime() < patience) {
            Thread.sleep(50);
        }
        producer.shutdown();
        consumer.shutdown();
        System.out.println("sent " + sent + " failed " + failed + " received " + seen.size() + " slowest " + slowest + " ms");
    }

    private static void consume(String namesrv, String group, String topic, int count, int seconds, boolean ordered)
        throws Exception {
        Set<String> seen = ConcurrentHashMap.newKeySet();
        Map<String, Integer> last = new ConcurrentHashMap<>();
        AtomicInteger disorder = new AtomicInteger();
        AtomicInteger deliveries = new AtomicInteger();
        DefaultMQPushConsumer consumer = consumer(namesrv, group, topic);
        if (ordered) {
            consumer.registerMessageListener((MessageListenerOrderly) (messages, context) -> {
                for (MessageExt message : messages) {
                    String body = take(message, seen, deliveries);
                    int number = Integer.parseInt(body.substring(body.lastIndexOf('-') + 1));
                    Integer before = last.put(message.getKeys(), number);
                    if (before != null && before >= number) {
                        disorder.incrementAndGet();
                    }
                }
                return ConsumeOrderlyStatus.SUCCESS;
            });
        } else {
            consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
                for (MessageExt message : messages) {
                    take(message, seen, deliveries);
                }
                return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
            });
        }
        consumer.start();
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        while (seen.size() < count && System.nanoTime() < end) {
            Thread.sleep(50);
        }
        consumer.shutdown();
        System.out.println("received " + seen.size() + " deliveries " + deliveries.get() + " disorder " + disorder.get());
    }

    private static String take(MessageExt message, Set<String> seen, AtomicInteger deliveries) {
        String body = new String(message.getBody(), StandardCharsets.UTF_8);
        deliveries.incrementAndGet();
        seen.add(body);
        return body;
    }
}
