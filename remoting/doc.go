// Package remoting is the registry's face toward brokers, clients and admin tools:
// the port on which unmodified Apache RocketMQ peers speak.
//
// # The conversation
//
// A connection begins, where a balancer stands in front, with a PROXY header, and
// then, if the peer likes, with a TLS handshake; both are told by their first bytes.
// After that come frames ([wire.SplitFrame]), any number at once. Requests of one
// connection are served in order by its one goroutine, and all complete requests of
// one read are answered by one write. An answer has the header form that is set for
// the server, whatever the request had, as Java's NameServer has it.
//
// A oneway request is served and not answered. A frame that is an answer is dropped.
// A frame that cannot be read ends the connection without an answer. A broker's
// registration lives with its connection, which is the registry's Holder.
//
// # Limits
//
// Everything that a peer controls has a bound in [Limits]: the size of a frame and of
// its header, what a compressed body inflates to, the number of connections, the time
// a connection may be silent, the time a peer may take to read, and the memory for
// large requests over all connections. What a peer claims is believed only as far as its
// bytes have come, and a large request that was given room has to be there within the
// time after which its sender gives up. Whatever a peer does it delays only itself, and
// what is wrong with it is logged once a minute at most.
//
// Brokers have budgets of their own beside everybody else's, so that a stampede of
// lookups costs no broker its place: see overload.go. Who may ask what is in [Access].
package remoting
