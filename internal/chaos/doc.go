// Command chaos tries to break the server. It runs it, does to it what goes wrong in a
// network of brokers, and checks what it answers against what it must know.
//
//	go run ./internal/chaos chaos     brokers that flap in every way, readers that check
//	go run ./internal/chaos overload  idle connections, brokers and a storm of lookups
//	go run ./internal/chaos soak      a steady load for hours, and whether anything grows
//
// The first has the server in its own process, to see the registry itself beside what is
// answered; the other two start the program, whose memory and descriptors they measure.
// Each ends with one line and, if anything is wrong, with exit status 1.
//
// # What chaos checks
//
// Every broker belongs to one worker, which knows what its group must be, for nobody
// else touches it. A worker marks a member as disturbed before it does anything that may
// take it out, and as settled once it is back; a reader holds the server to those that
// were settled, by the same mark, before its question and after the answer. So no check
// depends on how fast anything is.
package main
