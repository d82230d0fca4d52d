// Command goclient drives the stock rocketmq-client-go v2 for the interoperability scenarios. It prints the same
// figures as the Java probe, so that both are judged by the same code:
//
//	queues          NAMESRV TOPIC                        the queues that a producer would publish to
//	topics          NAMESRV                              the nameserver's topics (206)
//	produce         NAMESRV TOPIC COUNT PREFIX           sends COUNT messages PREFIX-0, PREFIX-1, …
//	ordered         NAMESRV TOPIC COUNT PREFIX           the same over 4 keys, each key to one queue
//	consume         NAMESRV GROUP TOPIC COUNT SECONDS    a push consumer until COUNT different messages have come
//	consume-ordered NAMESRV GROUP TOPIC COUNT SECONDS    orderly, checking that each key's numbers only rise
//	traffic         NAMESRV GROUP TOPIC SECONDS STOP     sends 20 messages a second and consumes them meanwhile, until
//	                                                     there is a file STOP or the time is over
//	certificates    DIR                                  writes an authority and certificates of it for tests of TLS
//
// NAMESRV may be several addresses with semicolons between them, or, for those that send and consume, the URL of an
// address list.
package main

import (
	"context"
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
	"time"

	rocketmq "github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/admin"
	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/producer"
	"github.com/apache/rocketmq-client-go/v2/rlog"
)

// keys is over how many message keys an ordered run spreads its messages.
const keys = 4

func main() {
	rlog.SetLogLevel("fatal")
	if err := run(os.Args[1:]); err != nil {
		fmt.Println("error", strings.ReplaceAll(err.Error(), "\n", " "))
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("usage: goclient COMMAND NAMESRV ARGS…")
	}
	if args[0] == "certificates" {
		return certificates(args[1])
	}
	command, servers, rest := args[0], primitive.NamesrvAddr(strings.Split(args[1], ";")), args[2:]
	// number reads the i-th argument after NAMESRV.
	number := func(i int) int {
		if i >= len(rest) {
			return 0
		}
		n, err := strconv.Atoi(rest[i])
		if err != nil {
			return 0
		}
		return n
	}
	need := map[string]int{"queues": 1, "topics": 0, "produce": 3, "ordered": 3, "consume": 4, "consume-ordered": 4, "traffic": 4}
	n, known := need[command]
	if !known || len(rest) != n {
		return fmt.Errorf("no such command, or not its arguments: %s", strings.Join(args, " "))
	}
	switch command {
	case "queues":
		return queues(servers, rest[0])
	case "topics":
		return topics(servers)
	case "produce", "ordered":
		return produce(servers, rest[0], number(1), rest[2], command == "ordered")
	case "traffic":
		return traffic(servers, rest[0], rest[1], time.Duration(number(2))*time.Second, rest[3])
	}
	return consume(servers, rest[0], rest[1], number(2), time.Duration(number(3))*time.Second, command == "consume-ordered")
}

func newAdmin(servers primitive.NamesrvAddr) (admin.Admin, error) {
	return admin.NewAdmin(admin.WithResolver(primitive.NewPassthroughResolver(servers)))
}

func queues(servers primitive.NamesrvAddr, topic string) error {
	a, err := newAdmin(servers)
	if err != nil {
		return err
	}
	defer a.Close()
	found, err := a.FetchPublishMessageQueues(context.Background(), topic)
	if err != nil {
		return err
	}
	sort.Slice(found, func(i, j int) bool {
		return fmt.Sprintf("%s %04d", found[i].BrokerName, found[i].QueueId) < fmt.Sprintf("%s %04d", found[j].BrokerName, found[j].QueueId)
	})
	for _, q := range found {
		fmt.Println(q.BrokerName, q.QueueId)
	}
	return nil
}

func topics(servers primitive.NamesrvAddr) error {
	a, err := newAdmin(servers)
	if err != nil {
		return err
	}
	defer a.Close()
	list, err := a.FetchAllTopicList(context.Background())
	if err != nil {
		return err
	}
	sort.Strings(list.TopicList)
	for _, t := range list.TopicList {
		fmt.Println(t)
	}
	return nil
}

func findByProducer(servers primitive.NamesrvAddr) producer.Option {
	if isDomain(servers) {
		return producer.WithNameServerDomain(servers[0])
	}
	return producer.WithNameServer(servers)
}

func startProducer(servers primitive.NamesrvAddr, more ...producer.Option) (rocketmq.Producer, error) {
	options := append([]producer.Option{
		findByProducer(servers), producer.WithGroupName("goclient_producer"),
		producer.WithInstanceName(fmt.Sprintf("producer%d", os.Getpid())), producer.WithRetry(3),
		producer.WithSendMsgTimeout(5 * time.Second),
	}, more...)
	p, err := rocketmq.NewProducer(options...)
	if err != nil {
		return nil, err
	}
	return p, p.Start()
}

func produce(servers primitive.NamesrvAddr, topic string, count int, prefix string, ordered bool) error {
	var more []producer.Option
	if ordered {
		more = append(more, producer.WithQueueSelector(producer.NewHashQueueSelector()))
	}
	p, err := startProducer(servers, more...)
	if err != nil {
		return err
	}
	defer p.Shutdown()
	byBroker, sent, failed := map[string]int{}, 0, 0
	for i := 0; i < count && failed < 6; i++ {
		m := primitive.NewMessage(topic, []byte(fmt.Sprintf("%s-%d", prefix, i)))
		m.WithKeys([]string{strconv.Itoa(i % keys)})
		if ordered {
			m.WithShardingKey(strconv.Itoa(i % keys))
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		result, err := p.SendSync(ctx, m)
		cancel()
		if err != nil {
			failed++
			fmt.Println("error", strings.ReplaceAll(err.Error(), "\n", " "))
			continue
		}
		sent++
		byBroker[result.MessageQueue.BrokerName]++
	}
	var names []string
	for name := range byBroker {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		fmt.Println("broker", name, byBroker[name])
	}
	fmt.Println("sent", sent, "failed", failed)
	return nil
}
