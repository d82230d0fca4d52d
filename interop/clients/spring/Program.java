package program;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.spring.annotation.RocketMQMessageListener;
import org.apache.rocketmq.spring.core.RocketMQListener;
import org.apache.rocketmq.spring.core.RocketMQTemplate;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.CommandLineRunner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.stereotype.Component;

/**
 * A Spring Boot program that sends messages with the starter's template and gets them with its listener. Of RocketMQ it
 * is told rocketmq.name-server and the names of its groups. The topic, the number of messages to send and the number to
 * wait for are its own properties.
 */
@SpringBootApplication
public class Program implements CommandLineRunner {
    private final RocketMQTemplate template;
    private final Listener listener;
    @Value("${program.topic}") private String topic;
    @Value("${program.send}") private int send;
    @Value("${program.want}") private int want;
    @Value("${program.seconds}") private int seconds;

    public Program(RocketMQTemplate template, Listener listener) {
        this.template = template;
        this.listener = listener;
    }

    public static void main(String[] args) {
        ConfigurableApplicationContext context = SpringApplication.run(Program.class, args);
        context.close();
        System.exit(0);
    }

    @Override
    public void run(String... args) throws Exception {
        System.out.println("Spring Boot " + SpringBootVersion.getVersion());
        int sent = 0;
        int failed = 0;
        for (int i = 0; i < send; i++) {
            if (template.syncSend(topic, "spring-" + i, 10000).getSendStatus() == SendStatus.SEND_OK) {
                sent++;
            } else {
                failed++;
            }
        }
        System.out.println("sent " + sent + " failed " + failed);
        long end = System.nanoTime() + seconds * 1000000000L;
        while (listener.bodies.size() < want && System.nanoTime() < end) {
            Thread.sleep(50);
        }
        System.out.println("received " + listener.bodies.size() + " deliveries " + listener.deliveries + " disorder 0");
    }

    @Component
    @RocketMQMessageListener(topic = "${program.topic}", consumerGroup = "${program.group}")
    public static class Listener implements RocketMQListener<String> {
        private final Set<String> bodies = ConcurrentHashMap.newKeySet();
        private final AtomicInteger deliveries = new AtomicInteger();

        @Override
        public void onMessage(String body) {
            bodies.add(body);
            deliveries.incrementAndGet();
        }
    }
}
