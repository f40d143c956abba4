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
//
// A worker that may die leases its URLs, and says when it is done. What it
// leaves, others Take:
//
//	leases, err := visited.Lease([]string{url}, 60)
//	if leases[0].Token != "" {
//		store(fetch(url))
//		_, err = visited.Done(leases[0].Token)
//	}
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
	"strconv"
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
	until := time.Now()
	if s.Hello != "" {
		until = until.Add(reconnect)
	}
	var err error
	if s.address != "" {
		err = s.connect(until)
	} else {
		err = s.spawn()
	}
	if err != nil {
		return err
	}
	hello, err := s.out.ReadString('\n')
	for err != nil && s.server == nil && time.Now().Before(until) { // it has died before its greeting
		_ = s.stop()
		time.Sleep(100 * time.Millisecond)
		if err = s.connect(until); err != nil {
			return err
		}
		hello, err = s.out.ReadString('\n')
	}
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

func (s *Store) connect(until time.Time) error {
	network, where := "tcp", strings.TrimPrefix(s.address, "unix:")
	if where != s.address {
		network = "unix"
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

// atOnce is how many requests are sent before their answers are read.
const atOnce = 500

// ask sends a request. If the server dies, ask sends it to a second server.
func (s *Store) ask(request string) (string, error) {
	answers, err := s.askAll([]string{request})
	if err != nil {
		return "", err
	}
	return answers[0][0], nil
}

// askAll sends requests, many at a time, and returns the lines of each answer.
// If the server dies, a second server gets the requests without an answer.
func (s *Store) askAll(requests []string) ([][]string, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.closed {
		return nil, errors.New("the store is closed")
	}
	var answers [][]string
	var refused error
	for tries := 0; len(answers) < len(requests); {
		part := requests[len(answers):]
		if len(part) > atOnce {
			part = part[:atOnce]
		}
		// If this fails, the server has ended, perhaps after an answer.
		_, _ = io.WriteString(s.in, strings.Join(part, ""))
		for _, request := range part {
			lines, err := s.readAnswer(request)
			if err != nil {
				tries++
				_ = s.stop()
				if tries == 2 {
					return nil, errors.New("unseen serve died twice of one request")
				}
				if err = s.start(); err != nil {
					return nil, err
				}
				break
			}
			if strings.HasPrefix(lines[0], "E ") && refused == nil {
				refused = errors.New(strings.TrimSpace(lines[0][2:]))
			}
			answers = append(answers, lines)
			tries = 0
		}
	}
	return answers, refused
}

// readAnswer reads the lines of an answer. Only the answer to X, a number of
// lines, has more than one.
func (s *Store) readAnswer(request string) ([]string, error) {
	line, err := s.out.ReadString('\n')
	lines := []string{strings.TrimSuffix(line, "\n")}
	if n, e := strconv.Atoi(lines[0]); err == nil && e == nil && strings.HasPrefix(request, "X ") {
		for ; n > 0 && err == nil; n-- {
			line, err = s.out.ReadString('\n')
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	return lines, err
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

// Lease is the answer for a URL. Token is "" if the URL was seen or if another
// worker has it.
type Lease struct {
	URL   string
	Token string
	HasIt bool // another worker has it
}

// Lease leases URLs that are new, for so many seconds.
func (s *Store) Lease(urls []string, seconds int) ([]Lease, error) {
	answers, err := s.askEach(fmt.Sprintf("L %d ", seconds), urls)
	leases := make([]Lease, len(answers))
	for i, answer := range answers {
		leases[i] = Lease{URL: urls[i], HasIt: answer[0] == "leased"}
		if strings.HasPrefix(answer[0], "1 ") {
			leases[i].Token = answer[0][2:]
		}
	}
	return leases, err
}

// Take leases at most n (1,000) URLs that were given back or whose workers
// died.
func (s *Store) Take(n, seconds int) ([]Lease, error) {
	answers, err := s.askAll([]string{fmt.Sprintf("X %d %d\n", n, seconds)})
	if err != nil {
		return nil, err
	}
	var leases []Lease
	for _, line := range answers[0][1:] {
		token, url, _ := strings.Cut(line, " ")
		leases = append(leases, Lease{URL: url, Token: token})
	}
	return leases, nil
}

// Done puts the URLs of tokens into the store. It returns how many tokens were
// not late.
func (s *Store) Done(tokens ...string) (int, error) { return s.askTokens("D ", tokens) }

// GiveBack lets others have the URLs of tokens. It returns how many tokens were
// not late.
func (s *Store) GiveBack(tokens ...string) (int, error) { return s.askTokens("G ", tokens) }

// Renew makes leases end so many seconds from now. It returns how many tokens
// were not late.
func (s *Store) Renew(seconds int, tokens ...string) (int, error) {
	return s.askTokens(fmt.Sprintf("N %d ", seconds), tokens)
}

func (s *Store) askEach(head string, words []string) ([][]string, error) {
	requests := make([]string, len(words))
	for i, word := range words {
		if strings.Contains(word, "\n") {
			return nil, errors.New("a URL with a newline in it")
		}
		requests[i] = head + word + "\n"
	}
	return s.askAll(requests)
}

func (s *Store) askTokens(head string, tokens []string) (int, error) {
	answers, err := s.askEach(head, tokens)
	n := 0
	for _, answer := range answers {
		if answer[0] == "OK" {
			n++
		}
	}
	return n, err
}

// Flush returns when everything answered so far would survive a power cut.
func (s *Store) Flush() error {
	_, err := s.ask("F\n")
	return err
}

// Info returns what the server knows of the store, as JSON.
func (s *Store) Info() (string, error) { return s.ask("I\n") }

// Stats returns what the server did, as JSON: clients, questions, leases and
// others.
func (s *Store) Stats() (string, error) { return s.ask("S\n") }

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
