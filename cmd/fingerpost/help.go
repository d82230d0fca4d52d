package main

import (
	"maps"
	"strings"

	"github.com/alecthomas/kong"
)

// examples are shown below a command's help.
var examples = map[string]string{
	"route":           "fingerpost route OrderCreated\nfingerpost route OrderCreated --remoting 10.0.0.1:9876",
	"topics list":     "fingerpost topics\nfingerpost topics 'Order*' --type normal -o json",
	"topics show":     "fingerpost topics show OrderCreated",
	"topics delete":   "fingerpost topics delete OrderCreated --dry-run",
	"brokers list":    "fingerpost brokers\nfingerpost brokers --cluster DefaultCluster",
	"brokers wipe":    "fingerpost brokers wipe broker-a --dry-run",
	"brokers restore": "fingerpost brokers restore broker-a",
	"clusters":        "fingerpost clusters --server https://names-1:8876",
	"watch":           "fingerpost watch\nfingerpost watch --kind member --broker 'broker-*' -o json",
	"diff":            "fingerpost diff 10.0.0.1:9876 10.0.0.2:9876\nfingerpost diff http://127.0.0.1:8876 10.0.0.2:9876 --kind broker,member",
	"events":          "fingerpost events --since 1h\nfingerpost events k7f2mq3a.1842",
	"kv list":         "fingerpost kv\nfingerpost kv ORDER_TOPIC_CONFIG",
	"kv get":          "fingerpost kv get ORDER_TOPIC_CONFIG OrderCreated",
	"kv put":          "fingerpost kv put ORDER_TOPIC_CONFIG OrderCreated 'broker-a:4;broker-b:4'",
	"kv delete":       "fingerpost kv delete ORDER_TOPIC_CONFIG OrderCreated",
	"config show":     "fingerpost config\nfingerpost config -c namesrv.properties -o json",
	"config get":      "fingerpost config get 'http.*'\nfingerpost config get --remoting 10.0.0.1:9876",
	"config set":      "fingerpost config set log.level=DEBUG --dry-run",
	"drain":           "fingerpost drain\nfingerpost drain --cancel",
	"completion":      "source <(fingerpost completion bash)",
}

// chinese are the short descriptions of commands for those who read Chinese.
var chinese = map[string]string{
	"serve":           "运行服务器；不写命令时即为此命令。",
	"route":           "显示 Topic 的消息发往何处。",
	"topics":          "列出、查看和删除 Topic。",
	"topics list":     "列出 Topic；不写下一个词时即为此命令。",
	"topics show":     "显示一个 Topic 及其在各 Broker 上的部分。",
	"topics delete":   "从 NameServer 中删除 Topic；仍有该 Topic 的 Broker 可能会再次注册它。",
	"brokers":         "列出 Broker；摘除和恢复写权限。",
	"brokers list":    "列出 Broker，每个成员一行；不写下一个词时即为此命令。",
	"brokers wipe":    "摘除 Broker 上 Topic 的写权限，让生产者离开。",
	"brokers restore": "恢复 Broker 上 Topic 的写权限。",
	"clusters":        "列出集群。",
	"watch":           "实时显示变更。",
	"diff":            "比较任意两个 NameServer；不一致时退出码为 3。",
	"events":          "显示已发生的变更及其操作者。",
	"kv":              "读取和修改 KV 表。",
	"kv list":         "列出命名空间，或某个命名空间的键；不写下一个词时即为此命令。",
	"kv get":          "原样输出一个键的值。",
	"kv put":          "设置一个键。",
	"kv delete":       "删除一个键。",
	"config":          "显示配置：本机服务器将使用的，或正在运行的服务器的；修改配置。",
	"config show":     "输出本机服务器将使用的每项配置及其来源；不写下一个词时即为此命令。",
	"config get":      "显示正在运行的服务器的配置。",
	"config set":      "修改正在运行的服务器的配置。",
	"token":           "生成或列出 REST API 的令牌。",
	"token new":       "生成并输出一个令牌；只保存其哈希。",
	"token list":      "列出文件中令牌的所有者。",
	"drain":           "在停止之前让节点下线，或让其恢复服务。",
	"curlrc":          "输出带有首次启动令牌的 curl 配置：fingerpost curlrc > rc; curl -K rc URL。",
	"health":          "询问正在运行的服务器是否就绪；退出码为 0 或 1。",
	"completion":      "输出 bash、zsh、fish 或 powershell 的补全脚本。",
	"version":         "输出版本。",
}

// explain gives commands their examples, and short descriptions in Chinese to those who
// read it.
func explain(root *kong.Node, inChinese bool) {
	for path, n := range commandsBelow(root, "") {
		if text, ok := examples[path]; ok {
			title := "Examples:"
			if inChinese {
				title = "示例："
			}
			n.Detail = title + "\n\n    " + strings.ReplaceAll(text, "\n", "\n    ")
		}
		if text, ok := chinese[path]; ok && inChinese {
			n.Help = text
		}
	}
}

// commandsBelow returns every command by its words.
func commandsBelow(n *kong.Node, before string) map[string]*kong.Node {
	all := make(map[string]*kong.Node)
	for _, c := range n.Children {
		if c.Type != kong.CommandNode {
			continue
		}
		path := strings.TrimSpace(before + " " + c.Name)
		all[path] = c
		maps.Copy(all, commandsBelow(c, path))
	}
	return all
}
