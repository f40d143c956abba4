// SPDX-License-Identifier: MIT

// The upload form of the CMS: a web page through which editors store documents,
// and delete them. Any number of forms and crawlers may run at once.
//
// usage: upload [-name NAME] [-lease SECONDS] [-listen ADDR:PORT] ADDRESS DATABASE
//
// ADDRESS is that of "unseen serve", DATABASE a connection string of PostgreSQL.
package main

import (
	"bufio"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"sync"

	"example.com/unseen"
	_ "github.com/lib/pq"
)

const form = `<!DOCTYPE html><title>A new document</title>
<form method="post" action="/documents">
<p><label>URL <input name="url" required></label>
<p><label>Title <input name="title" required></label>
<p><label>Text <textarea name="body"></textarea></label>
<p><button>Store</button>
</form>
`

// canon makes canonical URLs: "unseen canon", which answers line by line.
type canon struct {
	mutex sync.Mutex
	in    io.Writer
	out   *bufio.Reader
}

func newCanon() (*canon, error) {
	command := exec.Command("unseen", "canon")
	in, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &canon{in: in, out: bufio.NewReader(out)}, command.Start()
}

func (c *canon) url(url string) (string, error) {
	if url == "" || strings.Contains(url, "\n") {
		return "", errors.New("this is not a URL")
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if _, err := io.WriteString(c.in, url+"\n"); err != nil {
		return "", err
	}
	line, err := c.out.ReadString('\n')
	return strings.TrimSuffix(line, "\n"), err
}

type cms struct {
	name     string
	lease    int
	canon    *canon
	visited  *unseen.Store
	database *sql.DB
}

// store answers what became of a document. It goes into the database first; then
// its URL is done.
func (c *cms) store(url, title, body string) (int, string, error) {
	leases, err := c.visited.Lease([]string{url}, c.lease)
	if err != nil {
		return 0, "", err
	}
	if leases[0].HasIt {
		return http.StatusServiceUnavailable, "somebody is storing this document: try again in a moment", nil
	}
	if leases[0].Token == "" {
		return http.StatusConflict, "this document is in the CMS", nil
	}
	result, err := c.database.Exec(`INSERT INTO documents (url, title, body, stored_by)
		VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`, url, title, body, c.name)
	if err != nil {
		_, _ = c.visited.GiveBack(leases[0].Token)
		return 0, "", err
	}
	stored, err := result.RowsAffected()
	if err != nil {
		return 0, "", err
	}
	if _, err = c.visited.Done(leases[0].Token); err != nil {
		return 0, "", err
	}
	if stored == 0 { // by somebody who died before it was done
		return http.StatusConflict, "this document is in the CMS", nil
	}
	return http.StatusCreated, "stored", nil
}

// remove deletes a document from the database first, and then from the set: the
// set is never behind.
func (c *cms) remove(url string) (int, string, error) {
	if _, err := c.database.Exec("DELETE FROM documents WHERE url = $1", url); err != nil {
		return 0, "", err
	}
	if _, err := c.visited.Remove(url); err != nil {
		return 0, "", err
	}
	if err := c.visited.Flush(); err != nil {
		return 0, "", err
	}
	return http.StatusOK, "deleted", nil
}

func (c *cms) documents(w http.ResponseWriter, r *http.Request) {
	url, err := c.canon.url(r.FormValue("url"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var status int
	var answer string
	switch r.Method {
	case http.MethodPost:
		status, answer, err = c.store(url, r.FormValue("title"), r.FormValue("body"))
	case http.MethodDelete:
		status, answer, err = c.remove(url)
	default:
		status, answer = http.StatusMethodNotAllowed, "POST stores a document, DELETE deletes it"
	}
	if err != nil {
		log.Print(err)
		status, answer = http.StatusInternalServerError, "this did not work: try again"
	}
	w.WriteHeader(status)
	fmt.Fprintln(w, answer)
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func main() {
	log.SetFlags(0)
	name := flag.String("name", "upload", "its `NAME`")
	lease := flag.Int("lease", 30, "`SECONDS` for one document")
	listen := flag.String("listen", "127.0.0.1:8080", "`ADDR:PORT`")
	flag.Parse()
	if flag.NArg() != 2 {
		log.Fatal("usage: upload [-name NAME] [-lease SECONDS] [-listen ADDR:PORT] ADDRESS DATABASE")
	}
	c := &cms{*name, *lease, must(newCanon()), must(unseen.Open(flag.Arg(0))), must(sql.Open("postgres", flag.Arg(1)))}
	must(0, c.database.Ping())
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, form) })
	http.HandleFunc("/documents", c.documents)
	listener := must(net.Listen("tcp", *listen))
	fmt.Printf("%s: http://%s/\n", *name, listener.Addr())
	log.Fatal(http.Serve(listener, nil))
}
