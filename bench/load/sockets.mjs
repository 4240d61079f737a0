// node sockets.mjs <url> <token> <count> <channel or "idle">: holds streams open in a process of its own, and counts what they get.
// It says "ready" when all are subscribed. Asked with a line on its input, it tells what has come since it was last asked, as JSON.
import { createInterface } from "node:readline";
import { WebSocket } from "ws";

const [url = "", token = "", count = "1", channel = "events"] = process.argv.slice(2);
const openAtOnce = 50;
/** Each socket looks at the time of one event in so many, so that looking does not slow it down. */
const lookEvery = Math.max(1, Math.floor(Number(count) / 10));

let received = 0;
/** @type {number[]} */
let latenciesMs = [];

/** @returns {Promise<void>} when it is subscribed */
function openSocket() {
  const ws = new WebSocket(`${url.replace(/^http/, "ws")}/v1/stream`, "bursar.v1.json", {
    headers: { authorization: `Bearer ${token}` },
    skipUTF8Validation: true,
  });
  return new Promise((resolve, reject) => {
    ws.on("error", reject);
    ws.on("close", (code) => {
      process.stderr.write(`a stream ended with ${code}\n`);
      process.exit(1);
    });
    ws.on("open", () => {
      if (channel === "idle") resolve();
      else ws.send(JSON.stringify({ type: "subscribe", channel }));
    });
    ws.on("message", (/** @type {Buffer} */ data) => {
      // The second letter of the type is enough to tell an event from everything else.
      if (data[10] === 0x76 /* v, of event */) countEvent(data);
      else if (data.includes('"subscribed"')) resolve();
    });
  });
}

/** @param {Buffer} data */
function countEvent(data) {
  received += 1;
  if (received % lookEvery !== 0) return;
  const occurredAt = /"occurred_at":"([^"]+)"/.exec(data.toString("latin1", 0, 200))?.[1];
  if (occurredAt !== undefined) latenciesMs.push(Date.now() - Date.parse(occurredAt));
}

for (let opened = 0; opened < Number(count); opened += openAtOnce) {
  await Promise.all(Array.from({ length: Math.min(openAtOnce, Number(count) - opened) }, openSocket));
}
process.stdout.write("ready\n");
createInterface({ input: process.stdin }).on("line", () => {
  process.stdout.write(`${JSON.stringify({ received, latenciesMs })}\n`);
  received = 0;
  latenciesMs = [];
});
