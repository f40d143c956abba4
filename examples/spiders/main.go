// SPDX-License-Identifier: MIT

// One of any number of spiders that crawl a site together: spider.py in Go. Both
// can work on one site.
//
// usage: spiders [-name NAME] [-lease SECONDS] ADDRESS FIRST-URL PAGES
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"html"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	"example.com/unseen"
)

const (
	atOnce  = 10              // pages from one Take to the next; a lease lasts longer than they do
	timeout = 5 * time.Second // for one page
	pageMax = 16 << 20        // bytes
	linkMax = 65536           // no server takes a longer link, and a line of `unseen serve` has 1 MiB
)

type page struct {
	URL    string `json:"url"`
	Status int    `json:"status"`
	Text   string `json:"text"`
}

type spider struct {
	name    string
	lease   int
	visited *unseen.Store
	pages   *os.File
	client  http.Client
}

// must gives up: whatever this spider has leased, others take.
func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// href finds the links of a simple page. A real spider parses it
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

// fetch gets a page. The status is 0 if there is no answer.
func (s *spider) fetch(from string) page {
	request, err := http.NewRequest(http.MethodGet, from, nil)
	if err != nil {
		return page{URL: from, Text: err.Error()}
	}
	request.Header.Set("User-Agent", s.name)
	answer, err := s.client.Do(request)
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

// put puts the new URLs among them into the queue: leased, so that the server
// keeps them, and given back.
func (s *spider) put(urls []string) {
	var tokens []string
	for _, lease := range must(s.visited.Lease(urls, 1)) {
		if lease.Token != "" {
			tokens = append(tokens, lease.Token)
		}
	}
	must(s.visited.GiveBack(tokens...))
}

// isOver is true if nobody has a page to fetch any more.
func (s *spider) isOver() bool {
	var stats struct{ Leases int }
	must(0, json.Unmarshal([]byte(must(s.visited.Stats())), &stats))
	return stats.Leases == 0
}

func (s *spider) crawl(first string) (fetched, late int) {
	s.put([]string{first})
	for {
		jobs := must(s.visited.Take(atOnce, s.lease))
		if len(jobs) == 0 {
			if s.isOver() {
				return fetched, late
			}
			time.Sleep(50 * time.Millisecond) // others are at their last pages, or have died
			continue
		}
		var found, tokens []string
		for _, job := range jobs {
			p := s.fetch(job.URL)
			must(s.pages.Write(append(must(json.Marshal(p)), '\n')))
			found = append(found, links(p)...)
			tokens = append(tokens, job.Token)
		}
		must(0, s.pages.Sync())
		s.put(found)
		fetched += len(jobs)
		late += len(jobs) - must(s.visited.Done(tokens...))
	}
}

func main() {
	log.SetFlags(0)
	name := flag.String("name", "spider", "its `NAME`")
	lease := flag.Int("lease", (atOnce+1)*int(timeout/time.Second), "`SECONDS` for some pages")
	flag.Parse()
	if flag.NArg() != 3 {
		log.Fatal("usage: spiders [-name NAME] [-lease SECONDS] ADDRESS FIRST-URL PAGES")
	}
	pages := must(os.OpenFile(flag.Arg(2), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666))
	if must(pages.Stat()).Size() > 0 {
		must(pages.WriteString("\n")) // ends a line that a killed spider may have begun
	}
	s := spider{*name, *lease, must(unseen.Open(flag.Arg(0))), pages, http.Client{Timeout: timeout}}
	fetched, late := s.crawl(flag.Arg(1))
	must(0, s.visited.Close())
	fmt.Printf("%s: %d pages, %d of them late\n", *name, fetched, late)
}
