// SPDX-License-Identifier: MIT

package guard

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"example.com/unseen"
)

// Plain is the guard for a server that loads no modules. The filter is a store
// or a list behind `unseen serve`, a lease the key KEY:lease, set with NX and
// PX. Who does not get it asks for the value again after Poll.
type Plain struct {
	Redis  *Redis
	Filter *unseen.Store
	Poll   time.Duration
	Options
	Counts
}

// Stores a value, if the lease still has its token, and ends the lease.
const store = `if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return redis.call('DEL', KEYS[2])`

// Ends a lease that still has its token.
const giveBack = `if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`

func (p *Plain) Get(key string, load Load) ([]byte, bool, error) {
	if seen, err := p.Filter.Seen(key); err != nil {
		p.open(fmt.Sprint("the filter: ", err))
	} else if !seen {
		return nil, false, nil
	}
	lease, token := key+":lease", newToken()
	for until := time.Now().Add(p.Wait); time.Now().Before(until); time.Sleep(p.Poll) {
		answer, err := p.Redis.Do(0, "GET", key)
		if value, has := answer.([]byte); has {
			return value, true, nil
		}
		if err == nil {
			answer, err = p.Redis.Do(0, "SET", lease, token, "NX", "PX", milliseconds(p.Lease))
		}
		if err != nil {
			p.open(fmt.Sprint("the cache: ", err))
			return load(key)
		}
		if answer == "OK" {
			return p.load(key, lease, token, load)
		}
	}
	p.open("the load of a key took longer than the wait for it")
	return load(key)
}

// load is called with a lease. Another client may have stored the value between
// the two questions of Get, so it is asked for once more.
func (p *Plain) load(key, lease, token string, load Load) ([]byte, bool, error) {
	if answer, err := p.Redis.Do(0, "GET", key); err == nil && answer != nil {
		_, _ = p.Redis.Do(0, "EVAL", giveBack, 1, lease, token)
		value, _ := answer.([]byte)
		return value, true, nil
	}
	value, found, err := load(key)
	if err != nil || !found {
		_, _ = p.Redis.Do(0, "EVAL", giveBack, 1, lease, token)
	} else {
		_, _ = p.Redis.Do(0, "EVAL", store, 2, key, lease, token, value, milliseconds(p.TTL))
	}
	return value, found, err
}

func newToken() string {
	var bytes [8]byte
	if _, err := rand.Read(bytes[:]); err != nil {
		panic(err) // the system has no random numbers
	}
	return hex.EncodeToString(bytes[:])
}

func (p *Plain) Adding(key string) error {
	_, err := p.Filter.New(key)
	return err
}

func (p *Plain) Changed(key string) error {
	_, err := p.Redis.Do(0, "DEL", key, key+":lease")
	return err
}

func (p *Plain) Removed(key string) error {
	if _, err := p.Filter.Remove(key); err != nil {
		return errors.Join(err, p.Changed(key))
	}
	return p.Changed(key)
}
