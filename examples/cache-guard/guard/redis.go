// SPDX-License-Identifier: MIT

package guard

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"
)

// Redis is as much of a client as a guard needs: one command at a time on each
// of any number of connections. A real service takes the client that it has.
type Redis struct {
	Address string
	Timeout time.Duration // for a connection, and for an answer beyond what a command waits for
	idle    chan *connection
}

type connection struct {
	net.Conn
	in *bufio.Reader
}

// Refused is an error that the server answered.
type Refused string

func (e Refused) Error() string { return string(e) }

// NewRedis keeps up to 256 idle connections.
func NewRedis(address string) *Redis {
	return &Redis{address, 2 * time.Second, make(chan *connection, 256)}
}

// Do sends a command and reads its answer: nil, int64, []byte, string (a simple
// string) or []interface{}. The server may take `wait` longer for it.
func (r *Redis) Do(wait time.Duration, arguments ...interface{}) (interface{}, error) {
	c, err := r.take()
	if err != nil {
		return nil, err
	}
	_ = c.SetDeadline(time.Now().Add(wait + r.Timeout))
	if _, err = c.Write(encode(arguments)); err != nil {
		c.Close()
		return nil, err
	}
	answer, err := c.read()
	var refused Refused
	if err != nil && !errors.As(err, &refused) {
		c.Close()
		return nil, err
	}
	select {
	case r.idle <- c:
	default:
		c.Close()
	}
	return answer, err
}

func (r *Redis) take() (*connection, error) {
	select {
	case c := <-r.idle:
		return c, nil
	default:
	}
	c, err := net.DialTimeout("tcp", r.Address, r.Timeout)
	if err != nil {
		return nil, err
	}
	return &connection{c, bufio.NewReader(c)}, nil
}

func encode(arguments []interface{}) []byte {
	out := []byte(fmt.Sprintf("*%d\r\n", len(arguments)))
	for _, argument := range arguments {
		var text []byte
		switch a := argument.(type) {
		case []byte:
			text = a
		case string:
			text = []byte(a)
		default:
			text = []byte(fmt.Sprint(a))
		}
		out = append(out, fmt.Sprintf("$%d\r\n", len(text))...)
		out = append(append(out, text...), "\r\n"...)
	}
	return out
}

func (c *connection) read() (interface{}, error) {
	line, err := c.in.ReadString('\n')
	if err != nil || len(line) < 3 {
		return nil, fmt.Errorf("no answer: %w", firstError(err, io.ErrUnexpectedEOF))
	}
	text := line[1 : len(line)-2]
	switch line[0] {
	case '+':
		return text, nil
	case '-':
		return nil, Refused(text)
	case ':':
		return strconv.ParseInt(text, 10, 64)
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return nil, err // "$-1" and "*-1" are nil
	}
	if line[0] == '$' {
		value := make([]byte, n+2)
		_, err = io.ReadFull(c.in, value)
		return value[:n], err
	}
	list := make([]interface{}, n)
	for i := range list {
		if list[i], err = c.read(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
