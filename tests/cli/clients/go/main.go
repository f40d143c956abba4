// SPDX-License-Identifier: MIT

// Every method of the client, with two servers killed on the way (see
// examples.sh); or with a number N: how many URLs a second are answered, N one
// at a time and N in batches of 500.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"example.com/unseen"
)

// must gives up where nothing may go wrong.
func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func done(err error) { must(0, err) }

func kill(how syscall.Signal) int {
	pid := must(strconv.Atoi(strings.TrimSpace(string(must(os.ReadFile("pid"))))))
	done(syscall.Kill(pid, how))
	return pid
}

// end sends SIGTERM, and returns when the server has ended. Its exit status is left to the client.
func end() {
	stat := fmt.Sprintf("/proc/%d/stat", kill(syscall.SIGTERM))
	for !strings.Contains(string(must(os.ReadFile(stat))), ") Z") {
		time.Sleep(time.Millisecond)
	}
}

func refused(err error) {
	if err != nil && strings.HasPrefix(err.Error(), "a URL with") {
		fmt.Println("refused")
	} else {
		fmt.Println("error", err)
	}
}

func sum(marks []bool) (n int) {
	for _, mark := range marks {
		if mark {
			n++
		}
	}
	return n
}

func exercise(store string) {
	visited := must(unseen.Open(store, "--seed", "1"))
	isNew := func(url string) bool { return must(visited.New(url)) }
	seen := func(url string) bool { return must(visited.Seen(url)) }
	remove := func(url string) bool { return must(visited.Remove(url)) }
	fmt.Println(visited.Hello)
	fmt.Println("new", isNew("http://e.com/1"), isNew("HTTP://E.com/1#x"))
	fmt.Println("seen", seen("http://e.com/1"), seen("http://e.com/2"))
	fmt.Println("remove", remove("http://e.com/1"), remove("http://e.com/1"))
	urls := []string{"http://e.com/1", "http://e.com/é", "http://e.com/1", ""}
	fmt.Println("batch", strings.Trim(fmt.Sprint(must(visited.NewBatch(urls))), "[]"))
	known := must(visited.SeenBatch([]string{"http://e.com/1", "http://e.com/2"}))
	fmt.Println("seen batch", known[0], known[1])
	fmt.Println("empty", len(must(visited.NewBatch(nil))))
	var info struct{ Keys int }
	done(json.Unmarshal([]byte(must(visited.Info())), &info))
	fmt.Println("keys", info.Keys)
	_, err := visited.New("a\nb")
	refused(err)
	_, err = visited.NewBatch([]string{"a", "b\n"})
	refused(err)
	_, err = visited.New(strings.Repeat("x", 2000000))
	refused(err)
	done(visited.Flush())
	kill(syscall.SIGKILL)
	fmt.Println("killed", seen("http://e.com/é"), isNew("http://e.com/3"))
	done(visited.Flush())
	kill(syscall.SIGKILL)
	var many []string
	for i := 0; i < 100000; i++ {
		many = append(many, fmt.Sprint("http://e.com/", i))
	}
	fmt.Println("killed", sum(must(visited.NewBatch(many))))
	done(visited.Close())
	again := must(unseen.Open(store))
	fmt.Println("again", sum(must(again.NewBatch(many))))
	done(again.Close())
	if _, err := unseen.Open("missing/store"); err != nil {
		fmt.Println("not started")
	}
	ended := must(unseen.Open(store))
	end()
	wasSeen := must(ended.Seen("http://e.com/1"))
	end()
	unseen.Tool = "/missing/unseen"
	_, err = unseen.Open(store)
	if strings.HasPrefix(err.Error(), "cannot start /missing/unseen (") && strings.Contains(err.Error(), "): install it") {
		fmt.Println("install it")
	}
	fmt.Println("ended", wasSeen)
	done(ended.Close())
	fmt.Println("closed")
}

func leases(store string) {
	visited := must(unseen.Open(store))
	lease := func(url string) unseen.Lease { return must(visited.Lease([]string{url}, 60))[0] }
	stats := func() int {
		var s struct{ Leases int }
		done(json.Unmarshal([]byte(must(visited.Stats())), &s))
		return s.Leases
	}
	first := lease("http://lease/1").Token
	known := lease("http://e.com/1")
	fmt.Println("lease", first != "", lease("http://lease/1").HasIt, known.Token == "" && !known.HasIt)
	fmt.Println("renew", must(visited.Renew(60, first)), must(visited.Renew(60, "1.1")))
	finished := must(visited.Done(first, first))
	known = lease("http://lease/1")
	fmt.Println("done", finished, known.Token == "" && !known.HasIt)
	var urls, tokens []string
	for i := 0; i < 1200; i++ {
		urls = append(urls, fmt.Sprintf("http://lease/\xff/%d", i))
	}
	different := map[string]bool{}
	for _, l := range must(visited.Lease(urls, 60)) {
		tokens = append(tokens, l.Token)
		different[l.Token] = true
	}
	fmt.Println("leases", len(different), must(visited.GiveBack(tokens[1:]...)), stats())
	done(visited.Flush()) // what is done and not on the disk is handed out again
	kill(syscall.SIGKILL)
	left := append(must(visited.Take(1000, 60)), must(visited.Take(1000, 60))...)
	has := false
	var taken []string
	for _, l := range left {
		has = has || l.URL == urls[0]
		taken = append(taken, l.Token)
	}
	fmt.Println("take", len(left), has, must(visited.Done(tokens[0])))
	fmt.Println("done", must(visited.Done(taken...)), must(visited.Take(10, 60)), stats())
	_, err := visited.Lease([]string{"a\nb"}, 60)
	refused(err)
	_, err = visited.Lease([]string{"http://lease/2"}, 0)
	refused(err)
	done(visited.Close())
}

func measure(store string, n int) {
	var urls []string
	for i := 0; i < 2*n; i++ {
		urls = append(urls, fmt.Sprintf("http://www.example.com/section/page-%d.html", i))
	}
	visited := must(unseen.Open(store))
	start := time.Now()
	for _, url := range urls[:n] {
		must(visited.New(url))
	}
	middle := time.Now()
	for i := n; i < 2*n; i += 500 {
		must(visited.NewBatch(urls[i : i+500]))
	}
	end := time.Now()
	done(visited.Close())
	fmt.Printf("one at a time %.0f/s, batches %.0f/s\n",
		float64(n)/middle.Sub(start).Seconds(), float64(n)/end.Sub(middle).Seconds())
}

func main() {
	unseen.Tool = os.Args[1]
	if len(os.Args) == 3 {
		exercise(os.Args[2])
		unseen.Tool = os.Args[1]
		leases(os.Args[2])
	} else {
		measure(os.Args[2], must(strconv.Atoi(os.Args[3])))
	}
}
