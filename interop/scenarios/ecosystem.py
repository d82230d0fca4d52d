"""What stands around RocketMQ: clients that speak gRPC to the 5.x proxy, and programs made with Spring."""
import subprocess

from report import Section, lab, produced, received, safely

import clients

GRPC = [clients.Client("grpc-java", "java", "Client"), clients.Client("grpc-node", "node"), clients.Client("grpc-python", "python")]
SPRING = [clients.Client("spring", "java", "program.Program", properties={"spring-boot.version": "2.7.18"}),
          clients.Client("spring", "java", "program.Program", 17, {"spring-boot.version": "3.5.16"})]


def grpc(report, world, version):
    """5.x: clients in three languages, all on a proxy that learns from this nameserver alone where its brokers are."""
    able = clients.ready(GRPC)
    s = Section(report, world, version, "grpc", 4)
    ports, topic, each = s.ports, s.topic("grpc"), 12
    try:
        s.broker("a", 0, ports[0])
        s.broker("b", 0, ports[1])
        for name in "ab":
            s.servers[(name, 0)].wait_ready()
            report.eventually("broker %s registers" % name, lambda: s.ids(name), 45, needed=True)
        s.admin("updateTopic", "-c", s.cluster, "-t", topic, "-a", "+message.type=NORMAL")
        report.eventually("a topic has a route over both", lambda: set(s.brokers_of(topic)) == {"a", "b"}, 15, needed=True)
        server = lab.start_proxy(version, s.namesrv, s.cluster, ports[2], ports[3], world.root / ("proxy-" + s.mark))
        s.servers["proxy"] = server
        took = safely(lambda: server.wait_ready(120))
        report.need("the proxy starts", isinstance(took, float), took, took if isinstance(took, str) else "%.1f s" % took)
        for client in able:
            text = client.run(world.root, "produce", server.addr, topic, each, client.folder)
            report.check("%s sends through the proxy" % client.label, produced(text)[:2] == (each, 0), text)
        text = s.probe.run("produce", s.namesrv, topic, each, "remoting")[1]
        report.check("a client that asks the name server sends to the same topic", set(produced(text)[2]) == {"a", "b"}, text)
        want = each * (len(able) + 1)
        for client in able:
            text = client.run(world.root, "consume", server.addr, "%s_%s" % (client.folder, s.cluster), topic, want, 60)
            report.check("%s gets what all of them sent" % client.label, received(text)[0] == want, text, "%d messages" % want)
        text = s.probe.run("consume", s.namesrv, "remoting_" + s.cluster, topic, want, 60)[1]
        report.check("and so does a client that asks the name server", received(text)[0] == want, text)
        if world.can_restart:
            away(report, world, s, server, able)
    finally:
        s.close()


def away(report, world, s, server, able):
    """The name server stops under the proxy, and comes again."""
    world.stop()
    for client in able:
        text = client.run(world.root, "produce", server.addr, s.topic("grpc"), 4, "away")
        report.check("%s sends while there is no name server" % client.label, produced(text)[:2] == (4, 0), text)
    world.start()
    for name in "ab":
        report.eventually("broker %s is back" % name, lambda: s.ids(name), 45, needed=True)
    topic = s.topic("new")
    s.admin("updateTopic", "-c", s.cluster, "-t", topic, "-a", "+message.type=NORMAL")
    report.eventually("a new topic has a route", lambda: set(s.brokers_of(topic)) == {"a", "b"}, 15, needed=True)
    for client in able:
        text = client.run(world.root, "produce", server.addr, topic, 4, client.folder)
        report.check("%s sends to the new topic" % client.label, produced(text)[:2] == (4, 0), text)


def spring(report, world, version):
    """A program made with Spring Boot and RocketMQ's starter, which is told the name server and nothing else."""
    able = clients.ready(SPRING)
    s = Section(report, world, version, "spring", 1)
    try:
        s.broker("a", 0, s.ports[0]).wait_ready()
        report.eventually("a broker registers", lambda: s.ids("a"), 45, needed=True)
        for client in able:
            # A topic for each, so that its counts are its own.
            topic = s.topic("sp%d" % able.index(client))
            s.admin("updateTopic", "-c", s.cluster, "-t", topic)
            report.eventually("a topic has a route", lambda: s.route(topic), 15, needed=True)
            text = s.probe.run("produce", s.namesrv, topic, 12, "other")[1]
            report.check("another client sends first", produced(text)[:2] == (12, 0), text)
            settings = {"rocketmq.name-server": s.namesrv, "rocketmq.producer.group": "out_" + topic, "program.group": "in_" + topic,
                        "program.topic": topic, "program.send": 12, "program.want": 24, "program.seconds": 60,
                        "spring.main.banner-mode": "off"}
            text = client.run(world.root, *["--%s=%s" % pair for pair in settings.items()])
            report.check("%s sends" % client.label, produced(text)[:2] == (12, 0), text[-1500:])
            report.check("%s gets what it and the other client sent" % client.label, received(text)[0] == 24, text[-1500:])
            text = s.probe.run("consume", s.namesrv, "other_" + topic, topic, 24, 60)[1]
            report.check("and the other client gets both, too", received(text)[0] == 24, text)
    finally:
        s.close()


def prepare(scenarios):
    """Fetches and builds what these scenarios need, so that their own time does not go into it."""
    for scenario, programs in ((grpc, GRPC), (spring, SPRING)):
        if scenario not in scenarios:
            continue
        try:
            clients.ready(programs)
        except (OSError, subprocess.SubprocessError) as e:
            # The other scenarios have their run; this one tries again, and fails if it must.
            print("     %s: cannot be made ready: %s" % (scenario.__name__, e), flush=True)
