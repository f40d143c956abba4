// SPDX-License-Identifier: MIT

package guard

import "fmt"

// Module is the guard of a server with unseen.so: one command for each
// question.
type Module struct {
	Redis  *Redis
	Filter string // the key of the filter, made by UNSEEN.RESERVE
	Options
	Counts
}

func (m *Module) Get(key string, load Load) ([]byte, bool, error) {
	answer, err := m.Redis.Do(m.Wait, "GUARD.GET", m.Filter, key, "LEASE", milliseconds(m.Lease), "WAIT", milliseconds(m.Wait))
	list, _ := answer.([]interface{})
	if err != nil || len(list) < 2 {
		m.open(fmt.Sprint("GUARD.GET: ", err))
		return load(key)
	}
	if len(list) > 2 {
		m.open("there is no filter " + m.Filter) // the leases work all the same
	}
	switch list[0] {
	case "absent":
		return nil, false, nil
	case "value":
		value, _ := list[1].([]byte)
		return value, true, nil
	case "lease":
		return m.load(key, list[1], load)
	}
	m.open("the load of a key took longer than the wait for it")
	return load(key)
}

// load is called with a lease. What does not reach the server costs one load
// more, and nothing else: the lease ends by itself.
func (m *Module) load(key string, token interface{}, load Load) ([]byte, bool, error) {
	value, found, err := load(key)
	switch {
	case err != nil:
		_, _ = m.Redis.Do(0, "GUARD.FAIL", key, token)
	case !found:
		_, _ = m.Redis.Do(0, "GUARD.FAIL", key, token, "ABSENT")
	default:
		if _, failed := m.Redis.Do(0, "GUARD.SET", key, token, value, "PX", milliseconds(m.TTL)); failed != nil {
			_, _ = m.Redis.Do(0, "GUARD.FAIL", key, token)
		}
	}
	return value, found, err
}

func (m *Module) Adding(key string) error {
	_, err := m.Redis.Do(0, "UNSEEN.ADD", m.Filter, key)
	return err
}

func (m *Module) Changed(key string) error {
	_, err := m.Redis.Do(0, "GUARD.DEL", key)
	return err
}

func (m *Module) Removed(key string) error {
	if _, err := m.Redis.Do(0, "UNSEEN.REMOVE", m.Filter, key); err != nil {
		return err
	}
	return m.Changed(key)
}
