// Clients of the stream in a separate process, because reading 2,000 sockets in the test's process would distort its measurements. The
// input lists the clients to open; the output reports how many are open, the events that they received and their close codes.
import { WebSocket } from "ws";

/** The number of concurrent connection attempts. */
const knockingMax = 100;

/** @typedef {{ token: string, readers: number, sleepers: number }} Group */
/** @type {{ subscribed: number, events: number, failed: number, endings: Record<number, number> }} */
const told = { subscribed: 0, events: 0, failed: 0, endings: {} };

/** @param {string} url @param {string} token @param {boolean} isReader */
function join(url, token, isReader) {
  return new Promise((resolve) => {
    const ws = new WebSocket(`${url.replace("http", "ws")}/v1/stream`, ["bursar.v1.json"], {
      headers: { authorization: `Bearer ${token}` },
    });
    ws.on("error", () => {
      told.failed += 1;
      resolve(undefined);
    });
    ws.on("open", () => ws.send('{"type":"subscribe","channel":"events"}'));
    ws.on("message", (data) => {
      const text = String(data);
      if (text.startsWith('{"type":"event"')) told.events += 1;
      if (!text.startsWith('{"type":"subscribed"')) return;
      told.subscribed += 1;
      if (!isReader) ws.pause();
      resolve(undefined);
    });
    ws.on("close", (code) => {
      told.endings[code] = (told.endings[code] ?? 0) + 1;
    });
    process.on("message", (message) => {
      if (message === "wake") ws.resume();
    });
  });
}

/** @param {string} url @param {Group[]} groups */
async function joinAll(url, groups) {
  const all = groups.flatMap(({ token, readers, sleepers }) => [
    ...Array.from({ length: readers }, () => ({ token, isReader: true })),
    ...Array.from({ length: sleepers }, () => ({ token, isReader: false })),
  ]);
  const knock = async () => {
    for (let next = all.shift(); next !== undefined; next = all.shift())
      await join(url, next.token, next.isReader);
  };
  await Promise.all(Array.from({ length: knockingMax }, knock));
}

process.setMaxListeners(0);
process.on("message", (message) => {
  if (message === "tell") process.send?.(told);
  else if (message !== "wake") {
    const { url, groups } = /** @type {{ url: string, groups: Group[] }} */ (message);
    void joinAll(url, groups);
  }
});
process.on("disconnect", () => process.exit(0));
