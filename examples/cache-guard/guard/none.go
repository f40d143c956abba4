// SPDX-License-Identifier: MIT

package guard

// None is a cache without a guard, to compare with: every absent key and every
// client that finds no value asks the database.
type None struct {
	Redis *Redis
	Options
}

func (n *None) Get(key string, load Load) ([]byte, bool, error) {
	if answer, err := n.Redis.Do(0, "GET", key); err == nil && answer != nil {
		value, _ := answer.([]byte)
		return value, true, nil
	}
	value, found, err := load(key)
	if found && err == nil {
		_, _ = n.Redis.Do(0, "SET", key, value, "PX", milliseconds(n.TTL))
	}
	return value, found, err
}

func (n *None) Adding(string) error { return nil }

func (n *None) Changed(key string) error {
	_, err := n.Redis.Do(0, "DEL", key)
	return err
}

func (n *None) Removed(key string) error { return n.Changed(key) }
