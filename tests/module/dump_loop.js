/* Dumps each set of a server chunk by chunk into the same key of another, with node-redis in RESP2 and RESP3 and with
 * ioredis: the loop that their pages show, which sends back each position as it came.
 *
 * usage: node dump_loop.js FROM_PORT TO_PORT FAMILY KEY...    FAMILY: BF, CF or UNSEEN */
"use strict";
const { createClient, RESP_TYPES } = require("redis");
const Redis = require("ioredis");

async function nodeRedis(port, RESP) {
  const client = createClient({ RESP, socket: { host: "127.0.0.1", port } });
  await client.connect();
  const raw = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
  return { send: (...words) => raw.sendCommand(words), end: () => client.close() };
}

async function ioRedis(port) {
  const client = new Redis({ host: "127.0.0.1", port });
  return { send: (...words) => client.callBuffer(...words), end: () => client.quit() };
}

async function copy(from, to, family, key) {
  let position = 0;
  for (;;) {
    const [next, data] = await from.send(`${family}.SCANDUMP`, key, String(position));
    position = Number(next);
    if (position === 0) {
      return;
    }
    await to.send(`${family}.LOADCHUNK`, key, String(position), data);
  }
}

async function main(fromPort, toPort, family, keys) {
  const clients = [["node-redis RESP2", (port) => nodeRedis(port, 2)], ["node-redis RESP3", (port) => nodeRedis(port, 3)],
                   ["ioredis", ioRedis]];
  for (const [name, connect] of clients) {
    const from = await connect(fromPort);
    const to = await connect(toPort);
    await to.send("FLUSHALL");
    for (const key of keys) {
      await copy(from, to, family, key);
      const digests = await Promise.all([from, to].map((client) => client.send("DEBUG", "DIGEST-VALUE", key)));
      if (String(digests[0]) !== String(digests[1])) {
        throw new Error(`${name}: the copy of ${key} is another set`);
      }
    }
    await from.end();
    await to.end();
    console.log(name);
  }
}

const [fromPort, toPort, family, ...keys] = process.argv.slice(2);
main(Number(fromPort), Number(toPort), family, keys).catch((error) => {
  console.error(error);
  process.exit(1);
});
