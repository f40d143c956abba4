// SPDX-License-Identifier: MIT
//
// Have I seen this URL before? A client of `unseen serve`, whose protocol is in docs/serve.md.
//
//     const visited = new Unseen("visited.unseen");
//     if (await visited.new(url)) fetch(url);
//     await visited.close();
//
// The client starts a server of its own for the store. new Unseen("unix:/run/unseen.sock") and
// new Unseen("127.0.0.1:7007", { token }) connect to a server that many programs use.
//
// Any number of questions may be under way at once. If the server dies, the client starts a new
// server, or connects again, and sends all unanswered requests again: the old server had not remembered
// them. Ctrl-C and SIGTERM, which often reach the server too, end it in order. URLs are strings or
// Buffers.
//
// A worker that may die leases its URLs. What it leaves, others take:
//
//     const token = await visited.lease(url, 60);
//     if (token) {
//       store(await fetch(url));
//       await visited.done(token);
//     }
//     for (const [token, url] of await visited.take(10, 60)) ...
"use strict";

const { spawn } = require("node:child_process");
const net = require("node:net");

const ADDRESS = /^(unix:(.+)|\[?([0-9a-f:.]*?)\]?:([0-9]+))$/;
const RECONNECT = 10000; // milliseconds that a server may take to come back

class Unseen {
  constructor(store, { tool = "unseen", options = [], token = "" } = {}) {
    this.command = [tool, "serve", ...options, store];
    this.address = ADDRESS.exec(store);
    this.token = token;
    this.waiting = []; // requests without an answer, in order
    this.start();
  }

  /** What is written to the server and what it answers go through two streams. */
  start() {
    let missing = null;
    this.retry = null;
    this.hello = "";
    this.server = this.address ? this.connect() : this.spawn();
    this.server
      .on("error", (error) => (missing = error))
      .on("close", (status, signal) => this.ended(this.address ? 0 : (signal ?? status), missing));
    this.input = this.address ? this.server : this.server.stdin;
    this.input.on("error", () => {}); // it has ended: "close" comes
    this.read(this.address ? this.server : this.server.stdout);
    for (const waiting of this.waiting) {
      waiting.lines = [];
      this.input.write(waiting.request);
    }
    if (this.closing) this.input.end();
  }

  spawn() {
    return spawn(this.command[0], this.command.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
  }

  connect() {
    const [, , path, host, port] = this.address;
    const socket = path ? net.connect(path) : net.connect(Number(port), host || "127.0.0.1");
    if (this.token) this.waiting.unshift({ request: Buffer.from(`T ${this.token}\n`), resolve() {}, reject() {}, again: true });
    return socket;
  }

  read(output) {
    let rest = "";
    output.setEncoding("utf8").on("data", (data) => {
      const lines = (rest + data).split("\n");
      rest = lines.pop();
      for (const line of lines) this.hello ? this.answered(line) : this.greeted(line);
    });
  }

  greeted(line) {
    this.hello = line;
    this.lost = null;
  }

  /** Only the answer to X, a number of lines, has more than one line. */
  answered(line) {
    const { request, lines, resolve, reject } = this.waiting[0];
    lines.push(line);
    const more = request.toString("latin1", 0, 2) === "X " ? Number(lines[0]) || 0 : 0;
    if (lines.length <= more) return;
    this.waiting.shift();
    line.startsWith("E ") && more === 0 ? reject(new Error(line.slice(2))) : resolve(lines.join("\n"));
  }

  ended(status, missing) {
    this.server = null;
    if (this.token && this.waiting[0]?.request.toString("latin1", 0, 2) === "T ") this.waiting.shift();
    const first = this.waiting[0];
    if (first && this.hello && !first.again) {
      first.again = true; // a request is tried twice
      this.lost = Date.now();
      return this.start();
    }
    if (first && this.address && this.lost && Date.now() - this.lost < RECONNECT) {
      this.retry = setTimeout(() => this.start(), 100); // the server is not back yet
      return;
    }
    const error = this.address
      ? new Error(`cannot connect to ${this.address[0]}${missing ? ` (${missing.code})` : ""}`)
      : missing
      ? new Error(`cannot start ${this.command[0]} (${missing.code}): install it, or say where it is by tool`)
      : new Error(`${this.command.join(" ")} ended with status ${status}`);
    for (const { reject } of this.waiting.splice(0)) reject(error);
    // SIGINT and SIGTERM end a server in order, and then it dies of the signal.
    const good = this.address ? !first : !missing && [0, "SIGINT", "SIGTERM"].includes(status);
    if (this.closing) good ? this.closing.resolve() : this.closing.reject(error);
  }

  ask(head, urls = []) {
    const lines = urls.map((url) => Buffer.from(url));
    if (this.closing) throw new Error("the store is closed");
    if (lines.some((line) => line.includes("\n"))) throw new Error("a URL with a newline in it");
    const end = Buffer.from("\n");
    const request = Buffer.concat([Buffer.from(head), ...lines.flatMap((line) => [line, end])]);
    return new Promise((resolve, reject) => {
      this.waiting.push({ request, resolve, reject, lines: [] });
      if (this.server) return void this.input.write(request);
      if (this.retry) return; // it will be written
      this.lost = Date.now();
      this.start();
    });
  }

  /** Adds url; true if it was new. */
  async new(url) {
    return (await this.ask("A ", [url])) === "1";
  }

  /** True if url is in the store. Changes nothing. */
  async seen(url) {
    return (await this.ask("C ", [url])) === "1";
  }

  /** Forgets url; true if it was there. */
  async remove(url) {
    return (await this.ask("R ", [url])) === "1";
  }

  async askBatch(letter, urls) {
    if (!Array.isArray(urls)) throw new TypeError("a batch is an array of URLs");
    const marks = urls.length > 0 ? await this.ask(`B ${urls.length} ${letter}\n`, urls) : "";
    return Array.from(marks, (mark) => (mark === "E" ? null : mark === "1"));
  }

  /** new() for an array of up to 10^6 URLs (65,536 of a shared server), several times as fast; null for a URL it cannot take. */
  newBatch(urls) {
    return this.askBatch("A", urls);
  }

  /** seen() for an array of up to 10^6 URLs, several times as fast; null for a URL it cannot take. */
  seenBatch(urls) {
    return this.askBatch("C", urls);
  }

  /** A token if url is new, and yours for so many seconds; false if it was seen, null if another worker has it. */
  async lease(url, seconds) {
    const answer = await this.ask(`L ${seconds} `, [url]);
    return answer.startsWith("1 ") ? answer.slice(2) : answer === "0" ? false : null;
  }

  /** The URL of the token is in the store now; false if the token was late. */
  async done(token) {
    return (await this.ask(`D ${token}\n`)) === "OK";
  }

  /** Others may have the URL of the token; false if it was late. */
  async giveBack(token) {
    return (await this.ask(`G ${token}\n`)) === "OK";
  }

  /** The lease ends so many seconds from now; false if it was late. */
  async renew(seconds, token) {
    return (await this.ask(`N ${seconds} ${token}\n`)) === "OK";
  }

  /** Leases at most n (1,000) URLs that were given back or whose workers died: pairs of a token and a URL. */
  async take(n, seconds) {
    const lines = (await this.ask(`X ${n} ${seconds}\n`)).split("\n").slice(1);
    return lines.map((line) => [line.slice(0, line.indexOf(" ")), line.slice(line.indexOf(" ") + 1)]);
  }

  /** Resolves when everything answered so far would survive a power cut. */
  async flush() {
    await this.ask("F\n");
  }

  async info() {
    return JSON.parse(await this.ask("I\n"));
  }

  /** What the server did: clients, questions, leases and others. */
  async stats() {
    return JSON.parse(await this.ask("S\n"));
  }

  /** Ends the server, which answers and remembers everything first, or the connection. */
  close() {
    this.closed ??= new Promise((resolve, reject) => {
      this.closing = { resolve, reject };
      this.server ? this.input.end() : resolve();
    });
    return this.closed;
  }
}

module.exports = { Unseen };
