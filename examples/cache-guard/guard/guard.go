// SPDX-License-Identifier: MIT

// Package guard stands between a service, a cache in Redis or Valkey, and a
// database. Keys that do not exist are answered by a filter; a key without a
// value is loaded by one client while the others wait; nothing is stored for
// keys that do not exist. If the cache is down, the database is asked.
//
// Module needs unseen.so in the server. Plain does the same with a plain
// server, and `unseen serve` for the filter. None is the cache alone.
package guard

import (
	"log"
	"sync/atomic"
	"time"
)

// Load asks the database for a key. found is false if there is no such row.
type Load func(key string) (value []byte, found bool, err error)

// Guard answers for keys. Any number of goroutines may use one.
type Guard interface {
	// Get returns the value of a key. load is called if this client has to ask
	// the database.
	Get(key string, load Load) (value []byte, found bool, err error)

	// Adding must be called before a new row is committed: the filter is never
	// behind the database.
	Adding(key string) error

	// Changed must be called after a change of a row is committed. It drops the
	// value, and refuses what a loader that began before the change will bring.
	Changed(key string) error

	// Removed must be called after a delete is committed.
	Removed(key string) error
}

// Options of a guard.
type Options struct {
	Lease time.Duration // how long a loader has; more than the slowest load
	Wait  time.Duration // how long others wait for it before they ask the database
	TTL   time.Duration // of values
}

// Counts of a guard that went past it.
type Counts struct {
	Open int64 // questions that the guard could not answer: the database was asked
	said int64
}

// open notes that the guard failed, and says so at most once a second.
func (c *Counts) open(why string) {
	atomic.AddInt64(&c.Open, 1)
	now := time.Now().Unix()
	if atomic.SwapInt64(&c.said, now) != now {
		log.Printf("guard: %s: the database is asked", why)
	}
}

func milliseconds(d time.Duration) int64 { return int64(d / time.Millisecond) }
