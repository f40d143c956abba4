// SPDX-License-Identifier: MIT

package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"os"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// The load that is put on services: many clients, each of which asks for one
// article after the other, and checks the answer.
var (
	nclients  = flag.Int("clients", 100, "load: clients at once")
	nrequests = flag.Int64("requests", 100000, "load: requests of all of them")
	rows      = flag.Int64("rows", 1000, "load: the articles 1 to so many exist")
	pattern   = flag.String("pattern", "present", "load: present (skewed: few are asked for often), absent (each once), or one (article 1)")
	every     = flag.Duration("every", 0, "load: a pause between the requests of a client")
	first     = flag.Int64("first", 1, "load: absent articles begin so far behind the last that exists")
)

type counts struct {
	Requests int64   `json:"requests"`
	Found    int64   `json:"found"`
	Absent   int64   `json:"absent"`
	Wrong    int64   `json:"wrong"` // another text than the database has, or another verdict
	Failed   int64   `json:"failed"`
	Distinct int64   `json:"distinct"` // articles that exist and were asked for
	Seconds  float64 `json:"seconds"`
	P50      float64 `json:"p50_ms"`
	P99      float64 `json:"p99_ms"`
	Max      float64 `json:"max_ms"`
}

type loader struct {
	urls  []string
	next  int64
	asked sync.Map

	mutex sync.Mutex
	times []float64
	all   counts
}

func (l *loader) pick(r *rand.Rand, n int64) int64 {
	switch *pattern {
	case "absent":
		return *rows + *first + n
	case "one":
		return 1
	}
	u := r.Float64()
	return 1 + int64(u*u*u*float64(*rows)) // a half of the requests are for an eighth of the articles
}

func (l *loader) ask(client *http.Client, n, id int64) {
	start := time.Now()
	url := fmt.Sprintf("%s/articles/%d", strings.TrimRight(l.urls[n%int64(len(l.urls))], "/"), id)
	answer, err := client.Get(url)
	var body []byte
	status := 0
	if err == nil {
		body, err = io.ReadAll(answer.Body)
		answer.Body.Close()
		status = answer.StatusCode
	}
	took := float64(time.Since(start).Microseconds()) / 1000
	exists := id >= 1 && id <= *rows
	if exists {
		l.asked.Store(id, true)
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.times = append(l.times, took)
	l.all.Requests++
	switch {
	case err != nil || status >= 500:
		if l.all.Failed++; l.all.Failed == 1 {
			fmt.Fprintf(os.Stderr, "cache-guard: %s: status %d, %v\n", url, status, err)
		}
	case status == http.StatusNotFound:
		l.all.Absent++
		l.all.Wrong += toInt(exists)
	default:
		l.all.Found++
		l.all.Wrong += toInt(!exists || string(body) != fmt.Sprintf("text of %d", id))
	}
}

func toInt(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// report prints the counts.
func (l *loader) report(seconds float64) {
	c, times := l.all, l.times
	l.asked.Range(func(_, _ interface{}) bool { c.Distinct++; return true })
	sort.Float64s(times)
	if n := len(times); n > 0 {
		c.P50, c.P99, c.Max = times[n/2], times[n*99/100], times[n-1]
	}
	c.Seconds = seconds
	_ = json.NewEncoder(os.Stdout).Encode(c)
}

// load ends when all requests are answered.
func load(urls []string) error {
	l := &loader{urls: urls}
	client := &http.Client{Timeout: time.Minute,
		Transport: &http.Transport{MaxIdleConns: *nclients, MaxIdleConnsPerHost: *nclients}}
	var running sync.WaitGroup
	start := time.Now()
	for i := 0; i < *nclients; i++ {
		running.Add(1)
		go func(r *rand.Rand) {
			defer running.Done()
			for n := atomic.AddInt64(&l.next, 1); n <= *nrequests; n = atomic.AddInt64(&l.next, 1) {
				l.ask(client, n, l.pick(r, n))
				time.Sleep(*every)
			}
		}(rand.New(rand.NewSource(int64(i))))
	}
	running.Wait()
	l.report(time.Since(start).Seconds())
	return nil
}
