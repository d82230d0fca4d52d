package main

import (
	"archive/zip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"fingerpost/interop/bench/internal/proto"
)

type server struct {
	name string
	argv []string
	env  []string
	raw  bool // answers fixed frames only
	prep func(home string, port int) error

	cmd      *exec.Cmd
	exited   chan struct{}
	addr     string
	openMS   float64
	answerMS float64
	bad      map[string]bool // cells that failed at this size
	lost     bool            // could not be reseeded
}

// javaServer runs the jars with the options that runserver.sh and mqnamesrv
// ship for Java 9 and later.
func javaServer(lib, heap string) *server {
	return &server{
		name: "java",
		argv: strings.Fields("java -Duser.home={home} -Drocketmq.home.dir={home} -server -Xms" + heap + " -Xmx" + heap +
			" -XX:MetaspaceSize=128m -XX:MaxMetaspaceSize=320m -XX:+UseG1GC -XX:G1HeapRegionSize=16m -XX:G1ReservePercent=25 -XX:InitiatingHeapOccupancyPercent=30 -XX:SoftRefLRUPolicyMSPerMB=0" +
			" -Xlog:gc*:file={home}/gc.log:time,tags:filecount=5,filesize=30M -XX:-OmitStackTraceInFastThrow -XX:-UseLargePages -cp " + lib + "/*" +
			" -Drmq.logback.configurationFile={home}/rmq.namesrv.logback.xml org.apache.rocketmq.namesrv.NamesrvStartup -c {home}/ns.conf"),
		prep: func(home string, port int) error {
			if err := os.WriteFile(filepath.Join(home, "ns.conf"), fmt.Appendf(nil, "listenPort=%d\n", port), 0o644); err != nil {
				return err
			}
			jars, _ := filepath.Glob(filepath.Join(lib, "rocketmq-namesrv-*.jar"))
			if len(jars) == 0 {
				return fmt.Errorf("no rocketmq-namesrv jar in %s", lib)
			}
			z, err := zip.OpenReader(jars[0])
			if err != nil {
				return err
			}
			defer z.Close()
			f, err := z.Open("rmq.namesrv.logback.xml")
			if err != nil {
				return err
			}
			defer f.Close()
			b, err := io.ReadAll(f)
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(home, "rmq.namesrv.logback.xml"), b, 0o644)
		},
	}
}

func (s *server) pid() int { return s.cmd.Process.Pid }

func (s *server) start(port int, tmp string, size int) error {
	h := home(tmp, s.name, port)
	if s.prep != nil {
		if err := s.prep(h, port); err != nil {
			return err
		}
	}
	rep := strings.NewReplacer("{port}", strconv.Itoa(port), "{home}", h, "{size}", strconv.Itoa(size))
	var argv []string
	for _, a := range s.argv {
		argv = append(argv, rep.Replace(a))
	}
	s.addr = fmt.Sprintf("127.0.0.1:%d", port)
	if c, err := net.Dial("tcp", s.addr); err == nil {
		c.Close()
		return fmt.Errorf("%s: port %d is taken", s.name, port)
	}
	log, err := os.Create(filepath.Join(h, "out.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	s.cmd = exec.Command(argv[0], argv[1:]...)
	s.cmd.Stdout, s.cmd.Stderr = log, log
	s.cmd.Env = os.Environ()
	for _, e := range s.env {
		s.cmd.Env = append(s.cmd.Env, rep.Replace(e))
	}
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	begin := time.Now()
	if err := s.cmd.Start(); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	s.exited = make(chan struct{})
	go func(c *exec.Cmd, done chan struct{}) { c.Wait(); close(done) }(s.cmd, s.exited)
	for {
		select {
		case <-s.exited:
			b, _ := os.ReadFile(filepath.Join(h, "out.log"))
			return fmt.Errorf("%s exited while starting: %s", s.name, b[max(0, len(b)-800):])
		default:
		}
		if time.Since(begin) > 60*time.Second {
			s.stop()
			return fmt.Errorf("%s: port not open after 60 s", s.name)
		}
		c, err := net.DialTimeout("tcp", s.addr, time.Second)
		if err != nil {
			time.Sleep(time.Millisecond)
			continue
		}
		if s.openMS = ms(begin); true {
			err = askOnce(c)
			s.answerMS = ms(begin)
			c.Close()
		}
		if err != nil {
			s.stop()
			return fmt.Errorf("%s: first answer: %w", s.name, err)
		}
		return nil
	}
}

func ms(t time.Time) float64 { return float64(time.Since(t)) / 1e6 }

// askOnce asks for the route of an absent topic.
func askOnce(c net.Conn) error {
	f, _ := proto.Dataset{}.RouteFrame(proto.JSON, proto.VersionV550, false, true)
	c.SetDeadline(time.Now().Add(30 * time.Second))
	if _, err := c.Write(f.Head); err != nil {
		return err
	}
	var p [8]byte
	if _, err := io.ReadFull(c, p[:]); err != nil {
		return err
	}
	b := make([]byte, binary.BigEndian.Uint32(p[:])-4)
	if _, err := io.ReadFull(c, b); err != nil {
		return err
	}
	r, ok := proto.ParseRespHeader(binary.BigEndian.Uint32(p[4:]), b)
	if !ok || r.Flag&1 != 1 {
		return errors.New("not a response")
	}
	return nil
}

func (s *server) stop() {
	if s.cmd == nil || s.cmd.Process == nil {
		return
	}
	s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.exited:
	case <-time.After(3 * time.Second):
		s.cmd.Process.Kill()
		<-s.exited
	}
	s.cmd = nil
}

func stopAll(all []*server) {
	for _, s := range all {
		s.stop()
	}
}
