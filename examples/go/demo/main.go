// SPDX-License-Identifier: MIT

// Command demo prints the lines of standard input that are new, 500 at a time.
//
//	demo STORE < urls
package main

import (
	"bufio"
	"log"
	"os"

	"example.com/unseen"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatalf("usage: %s STORE < urls", os.Args[0])
	}
	visited, err := unseen.Open(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	out := bufio.NewWriter(os.Stdout)
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for more := true; more; {
		var batch []string
		for len(batch) < 500 && more {
			if more = lines.Scan(); more {
				batch = append(batch, lines.Text())
			}
		}
		isNew, err := visited.NewBatch(batch)
		if err != nil {
			log.Fatal(err)
		}
		for i, url := range batch {
			if isNew[i] {
				out.WriteString(url + "\n")
			}
		}
	}
	if err := lines.Err(); err != nil {
		log.Fatal(err)
	}
	if err := out.Flush(); err != nil {
		log.Fatal(err)
	}
	if err := visited.Close(); err != nil {
		log.Fatal(err)
	}
}
