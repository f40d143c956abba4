// SPDX-License-Identifier: MIT

// Package unseen answers: have I seen this URL before? It is a client of
// "unseen serve", whose protocol is in docs/serve.md.
//
//	visited, err := unseen.Open("visited.unseen")
//	isNew, err := visited.New(url)
//	err = visited.Close()
//
// Open starts a server of its own for the store.
// Open("unix:/run/unseen.sock") and Open("127.0.0.1:7007") connect to a server
// that many programs use.
//
// If the server dies, the client starts a new server, or connects again, and
// sends all unanswered requests again: the old server had not remembered them.
// Ctrl-C and SIGTERM, which often reach the server too, end it in order.
package unseen

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Tool is the program to run.
var Tool = "unseen"

// Token is the first line of the --token-file of a server behind a port.
var Token = ""

// reconnect is how long a server may take to come back.
const reconnect = 10 * time.Second

var address = regexp.MustCompile(`^(unix:.+|(\[[0-9a-f:.]+\]|[0-9.]*):[0-9]+)$`)

// Store is a store behind a server. Any number of goroutines may use it.
type Store struct {
	Hello string // the greeting of the server

	mutex   sync.Mutex
	command []string
	address string // of a server that others use, too
	server  *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	closed  bool
}

// Open starts a server for the store in the file path, which is made if it does not exist; or it
// connects to the server at an address.
func Open(path string, options ...string) (*Store, error) {
	s := &Store{command: append(append([]string{"serve"}, options...), path)}
	if address.MatchString(path) {
		s.address = path
	}
	return s, s.start()
}

func (s *Store) start() error {
	var err error
	if s.address != "" {
		err = s.connect()
	} else {
		err = s.spawn()
	}
	if err != nil {
		return err
	}
	hello, err := s.out.ReadString('\n')
	if err != nil && s.server != nil {
		return fmt.Errorf("unseen serve did not start: %w", s.server.Wait())
	}
	if err != nil || strings.HasPrefix(hello, "E ") {
		return fmt.Errorf("%s: %s", s.address, strings.TrimSpace(strings.TrimPrefix(hello, "E ")))
	}
	s.Hello = strings.TrimSuffix(hello, "\n")
	if s.address != "" && Token != "" {
		_, _ = io.WriteString(s.in, "T "+Token+"\n")
		if answer, _ := s.out.ReadString('\n'); answer != "OK\n" {
			return errors.New(s.address + " does not take the token")
		}
	}
	return nil
}

func (s *Store) spawn() error {
	s.server = exec.Command(Tool, s.command...)
	s.server.Stderr = os.Stderr
	var err error
	if s.in, err = s.server.StdinPipe(); err != nil {
		return err
	}
	out, err := s.server.StdoutPipe()
	if err != nil {
		return err
	}
	if err = s.server.Start(); err != nil {
		return fmt.Errorf("cannot start %s (%w): install it, or set unseen.Tool", Tool, err)
	}
	s.out = bufio.NewReader(out)
	return nil
}

func (s *Store) connect() error {
	network, where := "tcp", strings.TrimPrefix(s.address, "unix:")
	if where != s.address {
		network = "unix"
	}
	until := time.Now()
	if s.Hello != "" {
		until = until.Add(reconnect)
	}
	connection, err := net.Dial(network, where)
	for err != nil && time.Now().Before(until) {
		time.Sleep(100 * time.Millisecond)
		connection, err = net.Dial(network, where)
	}
	if err != nil {
		return fmt.Errorf("cannot connect to %s: %w", s.address, err)
	}
	s.in, s.out = connection, bufio.NewReader(connection)
	return nil
}

// stop ends the server, or the connection.
func (s *Store) stop() error {
	s.in.Close()
	if s.server == nil {
		return nil
	}
	return s.server.Wait()
}

// ask sends a request. If the server dies, ask sends it to a second server.
func (s *Store) ask(request string) (string, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.closed {
		return "", errors.New("the store is closed")
	}
	for try := 0; try < 2; try++ {
		// If this fails, the server has ended, perhaps after an answer.
		_, _ = io.WriteString(s.in, request)
		answer, err := s.out.ReadString('\n')
		if strings.HasPrefix(answer, "E ") {
			return "", errors.New(strings.TrimSpace(answer[2:]))
		}
		if err == nil {
			return strings.TrimSuffix(answer, "\n"), nil
		}
		_ = s.stop()
		if err = s.start(); err != nil {
			return "", err
		}
	}
	return "", errors.New("unseen serve died twice of one request")
}

func (s *Store) askOne(letter, url string) (bool, error) {
	if strings.Contains(url, "\n") {
		return false, errors.New("a URL with a newline in it")
	}
	answer, err := s.ask(letter + " " + url + "\n")
	return answer == "1", err
}

// New adds the URL and says whether it was new.
func (s *Store) New(url string) (bool, error) { return s.askOne("A", url) }

// Seen says whether the URL is in the store, and changes nothing.
func (s *Store) Seen(url string) (bool, error) { return s.askOne("C", url) }

// Remove forgets the URL and says whether it was there.
func (s *Store) Remove(url string) (bool, error) { return s.askOne("R", url) }

// askBatch returns a mark for each URL: 1, 0, or E for a URL that the server cannot take.
func (s *Store) askBatch(letter string, urls []string) (string, error) {
	request := fmt.Sprintf("B %d %s\n%s\n", len(urls), letter, strings.Join(urls, "\n"))
	if len(urls) == 0 {
		return "", nil
	}
	if strings.Count(request, "\n") != len(urls)+1 {
		return "", errors.New("a URL with a newline in it")
	}
	return s.ask(request)
}

// NewBatch is New for up to 10^6 URLs (65,536 of a server that others use, too), many times as fast. A URL that the server cannot take is new.
func (s *Store) NewBatch(urls []string) ([]bool, error) {
	marks, err := s.askBatch("A", urls)
	isNew := make([]bool, len(marks))
	for i := range marks {
		isNew[i] = marks[i] == '1' || marks[i] == 'E'
	}
	return isNew, err
}

// SeenBatch is Seen for up to 10^6 URLs, many times as fast. A URL that the server cannot take is
// not seen.
func (s *Store) SeenBatch(urls []string) ([]bool, error) {
	marks, err := s.askBatch("C", urls)
	seen := make([]bool, len(marks))
	for i := range marks {
		seen[i] = marks[i] == '1'
	}
	return seen, err
}

// Flush returns when everything answered so far would survive a power cut.
func (s *Store) Flush() error {
	_, err := s.ask("F\n")
	return err
}

// Info returns what the server knows of the store, as JSON.
func (s *Store) Info() (string, error) { return s.ask("I\n") }

// Close ends the server, which remembers everything first, or the connection.
func (s *Store) Close() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	err := s.stop()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		// SIGINT and SIGTERM end a server in order, and then it dies of the signal.
		status, ok := exit.Sys().(syscall.WaitStatus)
		if ok && status.Signaled() && (status.Signal() == syscall.SIGINT || status.Signal() == syscall.SIGTERM) {
			return nil
		}
	}
	return err
}
