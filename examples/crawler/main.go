// SPDX-License-Identifier: MIT

// Crawls a site: crawler.py in Go. The tool unseen is the filter, and the file
// that it writes is the queue. Both programs can work on one crawl, by turns.
//
// usage: crawler FOLDER FIRST-URL
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"log"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"time"
)

const (
	atOnce      = 100 // pages from one run of unseen to the next
	connections = 8
	timeout     = 5 * time.Second // for one page
	pageMax     = 16 << 20        // bytes
	linkMax     = 65536           // no server takes a longer link, and unseen takes lines of up to 16 MiB
)

type page struct {
	URL    string `json:"url"`
	Status int    `json:"status"`
	Text   string `json:"text"`
}

// position is where the files were when the last pages were done.
type position struct {
	Frontier int64 `json:"frontier"`
	Pages    int64 `json:"pages"`
}

// must gives up: a crawler that is started again goes on.
func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// href finds the links of a simple page. A real crawler parses it
// (golang.org/x/net/html).
var href = regexp.MustCompile(`(?is)<a\s[^>]*?href\s*=\s*(?:"([^"]*)"|'([^']*)')`)

// links are the URLs of the same site in a page.
func links(p page) []string {
	var found []string
	base, err := url.Parse(p.URL)
	if err != nil || p.Status != http.StatusOK {
		return nil
	}
	for _, match := range href.FindAllStringSubmatch(p.Text, -1) {
		text := html.UnescapeString(match[1] + match[2])
		link, err := base.Parse(strings.Join(strings.Fields(text), ""))
		if err == nil && link.Host == base.Host && len(link.String()) <= linkMax {
			found = append(found, link.String())
		}
	}
	return found
}

var client = http.Client{Timeout: timeout}

// fetch gets a page. The status is 0 if there is no answer.
func fetch(from string) page {
	request, err := http.NewRequest(http.MethodGet, from, nil)
	if err != nil {
		return page{URL: from, Text: err.Error()}
	}
	request.Header.Set("User-Agent", "crawler.go")
	answer, err := client.Do(request)
	if err != nil {
		return page{URL: from, Text: err.Error()}
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(http.MaxBytesReader(nil, answer.Body, pageMax))
	if err != nil {
		return page{URL: from, Text: err.Error()}
	}
	return page{from, answer.StatusCode, string(text)}
}

// fetchAll fetches pages, some at once, and gives them in the order of the URLs.
func fetchAll(urls []string) <-chan page {
	underWay := make(chan chan page, connections-1)
	pages := make(chan page)
	go func() {
		for _, from := range urls {
			one := make(chan page, 1)
			underWay <- one
			go func(from string) { one <- fetch(from) }(from)
		}
		close(underWay)
	}()
	go func() {
		for one := range underWay {
			pages <- <-one
		}
		close(pages)
	}()
	return pages
}

// replace writes a file as a whole or not at all.
func replace(path, text string) {
	file := must(os.Create(path + ".new"))
	must(file.WriteString(text))
	must(0, file.Sync())
	must(0, file.Close())
	must(0, os.Rename(path+".new", path))
}

// put appends the links that are new to the queue. They are on the disk when
// unseen ends.
func put(links []string) {
	replace("links", strings.Join(append(links, ""), "\n"))
	unseen := exec.Command("unseen", "--wait=60", "-s", "visited.unseen", "-o", "frontier.txt", "links")
	unseen.Stderr = os.Stderr
	if err := unseen.Run(); err != nil {
		log.Fatalf("unseen must be in the PATH, and succeed: %v", err)
	}
}

// lines are up to n lines of the file from there on, with their newlines.
func lines(file *os.File, at int64, n int) []string {
	var found []string
	must(file.Seek(at, io.SeekStart))
	reader := bufio.NewReader(file)
	for len(found) < n {
		line, err := reader.ReadString('\n')
		if line != "" {
			found = append(found, line)
		}
		if err == io.EOF {
			break
		}
		must(0, err)
	}
	return found
}

// stored gives up to n pages of the file from there on, and where they end. What
// a killed crawler has begun is cut off.
func stored(file *os.File, at int64, n int) (pages []page, end int64) {
	for _, line := range lines(file, at, n) {
		var p page
		if !strings.HasSuffix(line, "\n") {
			must(0, file.Truncate(at))
			break
		}
		must(0, json.Unmarshal([]byte(line), &p))
		pages = append(pages, p)
		at += int64(len(line))
	}
	return pages, at
}

func crawl(first string) {
	file := must(os.OpenFile("pages.jsonl", os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o666))
	if syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		log.Fatal("another crawler works in this folder")
	}
	put([]string{first})
	var at position
	text, err := os.ReadFile("position")
	if err == nil {
		must(0, json.Unmarshal(text, &at))
	} else if !errors.Is(err, fs.ErrNotExist) {
		log.Fatal(err)
	}
	frontier := must(os.Open("frontier.txt"))
	for {
		urls := lines(frontier, at.Frontier, atOnce)
		if len(urls) == 0 {
			return
		}
		for i, url := range urls {
			at.Frontier += int64(len(url))
			urls[i] = strings.TrimSpace(url)
		}
		pages, end := stored(file, at.Pages, len(urls)) // by a crawler that was killed
		for p := range fetchAll(urls[len(pages):]) {
			line := append(must(json.Marshal(p)), '\n')
			must(file.Write(line))
			pages = append(pages, p)
			end += int64(len(line))
		}
		must(0, file.Sync())
		var found []string
		for _, p := range pages {
			found = append(found, links(p)...)
		}
		put(found)
		at.Pages = end
		replace("position", string(must(json.Marshal(at))))
	}
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("crawler: ")
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: crawler FOLDER FIRST-URL")
		os.Exit(2)
	}
	must(0, os.MkdirAll(os.Args[1], 0o777))
	must(0, os.Chdir(os.Args[1]))
	crawl(os.Args[2])
}
