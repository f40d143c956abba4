// SPDX-License-Identifier: MIT

// A service of articles: PostgreSQL, a cache in Redis or Valkey, and a guard in
// front of both. Start as many processes as you like.
//
//	cache-guard [OPTION]... serve DATABASE      GET, PUT and DELETE /articles/ID; GET /stats
//	cache-guard [OPTION]... load URL...         asks running services (load.go)
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"example.com/cache-guard/guard"
	"example.com/unseen"
	_ "github.com/lib/pq"
)

var (
	kind    = flag.String("guard", "module", "module, plain or none")
	address = flag.String("redis", "127.0.0.1:6379", "the address of Redis or Valkey")
	filter  = flag.String("filter", "{article}filter", "module: the key of the filter; plain: the address of `unseen serve`")
	listen  = flag.String("listen", "127.0.0.1:8080", "where to listen")
	pause   = flag.Duration("load-time", 0, "how long the database takes for a row, at least")
	lease   = flag.Duration("lease", 10*time.Second, "how long a loader has")
	wait    = flag.Duration("wait", 30*time.Second, "how long others wait for it")
	timeout = flag.Duration("timeout", 2*time.Second, "how long the cache may take for an answer")
	ttl     = flag.Duration("ttl", 10*time.Minute, "how long the cache keeps a value")
)

type service struct {
	guard    guard.Guard
	counts   *guard.Counts
	database *sql.DB
	loads    int64
}

// The keys of the cache share a tag with the filter: one slot of a cluster.
func keyOf(id int64) string { return "{article}" + strconv.FormatInt(id, 10) }

func (s *service) load(key string) ([]byte, bool, error) {
	var body sql.NullString
	atomic.AddInt64(&s.loads, 1)
	id, err := strconv.ParseInt(strings.TrimPrefix(key, "{article}"), 10, 64)
	if err == nil {
		err = s.database.QueryRow("SELECT body FROM pg_sleep($2) LEFT JOIN articles ON id = $1", id, pause.Seconds()).Scan(&body)
	}
	return []byte(body.String), body.Valid, err
}

// alone makes a change of an article while no other process changes it. An
// insert between the commit of a delete and what the filter then forgets would
// leave a row that the filter lacks.
func (s *service) alone(id int64, change func(*sql.Conn) error) error {
	c, err := s.database.Conn(context.Background())
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := c.ExecContext(context.Background(), "SELECT pg_advisory_lock($1)", id); err != nil {
		return err
	}
	err = change(c)
	_, failed := c.ExecContext(context.Background(), "SELECT pg_advisory_unlock($1)", id)
	return errors.Join(err, failed)
}

// put stores a row: the filter first, so that it is never behind the database;
// the cache after the commit.
func (s *service) put(id int64, body []byte) error {
	return s.alone(id, func(c *sql.Conn) error {
		if err := s.guard.Adding(keyOf(id)); err != nil {
			return err
		}
		_, err := c.ExecContext(context.Background(),
			"INSERT INTO articles VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET body = $2", id, body)
		if err != nil {
			return err
		}
		return s.guard.Changed(keyOf(id))
	})
}

func (s *service) remove(id int64) error {
	return s.alone(id, func(c *sql.Conn) error {
		if _, err := c.ExecContext(context.Background(), "DELETE FROM articles WHERE id = $1", id); err != nil {
			return err
		}
		return s.guard.Removed(keyOf(id))
	})
}

func (s *service) article(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseInt(strings.TrimPrefix(r.URL.Path, "/articles/"), 10, 64)
	if err != nil {
		http.Error(w, "an article has a number", http.StatusBadRequest)
		return
	}
	var body []byte
	found := true
	switch r.Method {
	case http.MethodGet:
		body, found, err = s.guard.Get(keyOf(id), s.load)
	case http.MethodPut:
		if body, err = io.ReadAll(r.Body); err == nil {
			err = s.put(id, body)
		}
	case http.MethodDelete:
		err = s.remove(id)
	default:
		http.Error(w, "GET, PUT or DELETE", http.StatusMethodNotAllowed)
		return
	}
	switch {
	case err != nil:
		log.Print(err)
		http.Error(w, "this did not work: try again", http.StatusInternalServerError)
	case !found:
		http.Error(w, "there is no such article", http.StatusNotFound)
	default:
		_, _ = w.Write(body)
	}
}

func (s *service) stats(w http.ResponseWriter, _ *http.Request) {
	_ = json.NewEncoder(w).Encode(map[string]int64{
		"loads": atomic.LoadInt64(&s.loads), "open": atomic.LoadInt64(&s.counts.Open)})
}

func newService(database string) (*service, error) {
	options := guard.Options{Lease: *lease, Wait: *wait, TTL: *ttl}
	redis := guard.NewRedis(*address)
	redis.Timeout = *timeout
	db, err := sql.Open("postgres", database)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(20)
	db.SetMaxIdleConns(20)
	switch *kind {
	case "module":
		g := &guard.Module{Redis: redis, Filter: *filter, Options: options}
		return &service{guard: g, counts: &g.Counts, database: db}, nil
	case "plain":
		store, err := unseen.Open(*filter)
		g := &guard.Plain{Redis: redis, Filter: store, Poll: 10 * time.Millisecond, Options: options}
		return &service{guard: g, counts: &g.Counts, database: db}, err
	case "none":
		return &service{guard: &guard.None{Redis: redis, Options: options}, counts: &guard.Counts{}, database: db}, nil
	}
	return nil, fmt.Errorf("-guard is module, plain or none, not %q", *kind)
}

func serve(database string) error {
	s, err := newService(database)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	fmt.Printf("cache-guard: http://%s/\n", listener.Addr())
	http.HandleFunc("/articles/", s.article)
	http.HandleFunc("/stats", s.stats)
	return http.Serve(listener, nil)
}

func main() {
	flag.Parse()
	var err error
	switch {
	case flag.NArg() == 2 && flag.Arg(0) == "serve":
		err = serve(flag.Arg(1))
	case flag.NArg() >= 2 && flag.Arg(0) == "load":
		err = load(flag.Args()[1:])
	default:
		fmt.Fprintln(os.Stderr, "usage: cache-guard [OPTION]... serve DATABASE | load URL...")
		flag.PrintDefaults()
		os.Exit(2)
	}
	if err != nil {
		log.Fatal(err)
	}
}
