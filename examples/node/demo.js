// SPDX-License-Identifier: MIT
//
// Prints the lines of standard input that are new, 500 at a time.
//
// usage: node demo.js STORE < urls
"use strict";

const readline = require("node:readline");
const { Unseen } = require("./unseen");

if (process.argv.length !== 3) {
  console.error("usage: node demo.js STORE < urls");
  process.exit(2);
}

async function main() {
  const visited = new Unseen(process.argv[2]);
  let batch = [];
  const answer = async () => {
    const isNew = await visited.newBatch(batch);
    const lines = batch.filter((_, i) => isNew[i] !== false).map((url) => url + "\n");
    batch = [];
    process.stdout.write(lines.join(""));
  };
  for await (const line of readline.createInterface({ input: process.stdin })) {
    if (batch.push(line) === 500) await answer();
  }
  await answer();
  await visited.close();
}

main().catch((error) => {
  console.error(`demo.js: ${error.message}`);
  process.exitCode = 2;
});
