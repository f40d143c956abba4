// SPDX-License-Identifier: MIT
//
// Every method of the client, with two servers killed on the way (see examples.sh); or with a
// number N: how many URLs a second are answered, N one at a time and N in batches of 500.
"use strict";

const fs = require("node:fs");
const path = require("node:path");

const [examples, tool, store, number] = process.argv.slice(2);
const { Unseen } = require(path.resolve(examples, "unseen"));

const say = (...words) => console.log(words.join(" "));
const kill = (how = "SIGKILL") => process.kill(Number(fs.readFileSync("pid", "utf8")), how);
const sum = (marks) => marks.reduce((n, mark) => n + (mark ? 1 : 0), 0);

async function refused(ask) {
  try {
    await ask();
  } catch (error) {
    say(error.message.startsWith("a URL with") ? "refused" : `error ${error.message}`);
  }
}

async function leases() {
  const visited = new Unseen(store, { tool });
  const first = await visited.lease("http://lease/1", 60);
  const again = await visited.lease("http://lease/1", 60);
  say("lease", first !== null && first !== false, again === null, (await visited.lease("http://e.com/1", 60)) === false);
  say("renew", Number(await visited.renew(60, first)), Number(await visited.renew(60, "1.1")));
  const done = sum([await visited.done(first), await visited.done(first)]);
  say("done", done, (await visited.lease("http://lease/1", 60)) === false);
  const urls = Array.from({ length: 1200 }, (_, i) => `http://lease/é/${i}`);
  const many = await Promise.all(urls.map((url) => visited.lease(url, 60)));
  const back = sum(await Promise.all(many.slice(1).map((token) => visited.giveBack(token))));
  say("leases", new Set(many).size, back, (await visited.stats()).leases);
  await visited.flush(); // what is done and not on the disk is handed out again
  kill();
  const left = [...(await visited.take(1000, 60)), ...(await visited.take(1000, 60))];
  say("take", left.length, left.some(([, url]) => url === urls[0]), Number(await visited.done(many[0])));
  const ended = sum(await Promise.all(left.map(([token]) => visited.done(token))));
  say("done", ended, JSON.stringify(await visited.take(10, 60)), (await visited.stats()).leases);
  await refused(() => visited.lease("a\nb", 60));
  await refused(() => visited.lease("http://lease/2", 0));
  await visited.close();
}

async function exercise() {
  const visited = new Unseen(store, { tool, options: ["--seed", "1"] });
  // Several questions under way at once are answered in order.
  const [one, two] = [visited.new("http://e.com/1"), visited.new("HTTP://E.com/1#x")];
  const words = ["new", await one, await two];
  say(visited.hello);
  say(...words);
  say("seen", await visited.seen("http://e.com/1"), await visited.seen("http://e.com/2"));
  say("remove", await visited.remove("http://e.com/1"), await visited.remove("http://e.com/1"));
  const urls = ["http://e.com/1", "http://e.com/é", "http://e.com/1", ""];
  say("batch", ...(await visited.newBatch(urls)));
  say("seen batch", ...(await visited.seenBatch(["http://e.com/1", "http://e.com/2"])));
  say("empty", (await visited.newBatch([])).length);
  say("keys", (await visited.info()).keys);
  await refused(() => visited.new("a\nb"));
  await refused(() => visited.newBatch(["a", "b\n"]));
  await refused(() => visited.new("x".repeat(2000000)));
  await visited.flush();
  kill();
  const asked = [visited.seen("http://e.com/é"), visited.new("http://e.com/3"), visited.flush()];
  say("killed", ...(await Promise.all(asked)).slice(0, 2));
  kill();
  const many = Array.from({ length: 100000 }, (_, i) => `http://e.com/${i}`);
  say("killed", sum(await visited.newBatch(many)));
  await visited.close();
  const again = new Unseen(store, { tool });
  say("again", sum(await again.newBatch(many)));
  await again.close();
  const missing = new Unseen("missing/store", { tool });
  await missing.new("http://e.com/").catch(() => say("not started"));
  await new Unseen(store, { tool: "/missing/unseen" })
    .new("http://e.com/")
    .catch(({ message }) => say(message.startsWith("cannot start /missing/unseen (") && message.split(": ")[1].slice(0, 10)));
  const ended = new Unseen(store, { tool });
  await ended.info();
  const died = new Promise((resolve) => ended.server.on("close", resolve));
  kill("SIGTERM");
  await died;
  say("ended", await ended.seen("http://e.com/1"));
  const closing = (kill("SIGTERM"), ended.close());
  await closing;
  say("closed");
}

async function measure(n) {
  const urls = Array.from({ length: 2 * n }, (_, i) => `http://www.example.com/section/page-${i}.html`);
  const visited = new Unseen(store, { tool });
  await visited.info();
  const start = performance.now();
  for (let i = 0; i < n; i++) await visited.new(urls[i]);
  const middle = performance.now();
  for (let i = n; i < 2 * n; i += 500) await visited.newBatch(urls.slice(i, i + 500));
  const end = performance.now();
  await visited.close();
  const rate = (ms) => Math.round((1000 * n) / ms);
  say(`one at a time ${rate(middle - start)}/s, batches ${rate(end - middle)}/s`);
}

(number ? measure(Number(number)) : exercise().then(leases)).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
