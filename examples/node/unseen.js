// SPDX-License-Identifier: MIT
//
// Have I seen this URL before? A client of `unseen serve`, whose protocol is in docs/serve.md.
//
//     const visited = new Unseen("visited.unseen");
//     if (await visited.new(url)) fetch(url);
//     await visited.close();
//
// Any number of questions may be under way at once. If the server dies, the client starts a new
// server and sends all unanswered requests again: the old server had not remembered them. URLs are
// strings or Buffers.
"use strict";

const { spawn } = require("node:child_process");

class Unseen {
  constructor(store, { tool = "unseen", options = [] } = {}) {
    this.command = [tool, "serve", ...options, store];
    this.waiting = []; // requests without an answer, in order
    this.start();
  }

  start() {
    let rest = "";
    this.hello = "";
    this.server = spawn(this.command[0], this.command.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
    this.server.on("error", () => {}).on("close", (status) => this.ended(status));
    this.server.stdin.on("error", () => {}); // it has ended: "close" comes
    this.server.stdout.setEncoding("utf8").on("data", (data) => {
      const lines = (rest + data).split("\n");
      rest = lines.pop();
      for (const line of lines) this.hello ? this.answered(line) : (this.hello = line);
    });
    for (const { request } of this.waiting) this.server.stdin.write(request);
    if (this.closing) this.server.stdin.end();
  }

  answered(line) {
    const { resolve, reject } = this.waiting.shift();
    line.startsWith("E ") ? reject(new Error(line.slice(2))) : resolve(line);
  }

  ended(status) {
    this.server = null;
    const first = this.waiting[0];
    if (first && this.hello && !first.again) {
      first.again = true; // a request is tried twice
      return this.start();
    }
    const error = new Error(`${this.command.join(" ")} ended with status ${status}`);
    for (const { reject } of this.waiting.splice(0)) reject(error);
    if (this.closing) status === 0 ? this.closing.resolve() : this.closing.reject(error);
  }

  ask(head, urls = []) {
    const lines = urls.map((url) => Buffer.from(url));
    if (lines.some((line) => line.includes("\n"))) throw new Error("a URL with a newline in it");
    const end = Buffer.from("\n");
    const request = Buffer.concat([Buffer.from(head), ...lines.flatMap((line) => [line, end])]);
    return new Promise((resolve, reject) => {
      this.waiting.push({ request, resolve, reject });
      this.server ? this.server.stdin.write(request) : this.start();
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

  /** new() for an array of up to 10^6 URLs, several times as fast; null for a URL it cannot take. */
  async newBatch(urls) {
    const marks = urls.length > 0 ? await this.ask(`B ${urls.length} A\n`, urls) : "";
    return Array.from(marks, (mark) => (mark === "E" ? null : mark === "1"));
  }

  /** Resolves when everything answered so far would survive a power cut. */
  async flush() {
    await this.ask("F\n");
  }

  async info() {
    return JSON.parse(await this.ask("I\n"));
  }

  /** Ends the server, which answers and remembers everything first. */
  close() {
    return new Promise((resolve, reject) => {
      this.closing = { resolve, reject };
      this.server ? this.server.stdin.end() : resolve();
    });
  }
}

module.exports = { Unseen };
