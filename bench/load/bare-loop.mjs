// The yardstick for the sender of webhooks: undici in a loop, with one payload and nothing to remember. It stays alive between runs,
// as the service does, so that its code is compiled: in a process that has just started it is a third slower.
import { Pool } from "undici";

/** @type {{ origin: string, paths: string[], headers: Record<string, string>, body: string, connections: number }} */
const { origin, paths, headers, body, connections } = JSON.parse(process.argv[2] ?? "");
const pool = new Pool(origin, { connections, pipelining: 1 });

/** @param {number} count */
async function send(count) {
  let sent = 0;
  const loop = async () => {
    while (sent < count) {
      const path = paths[sent++ % paths.length] ?? "/";
      const answer = await pool.request({ method: "POST", path, headers, body });
      await answer.body.dump();
    }
  };
  await Promise.all(Array.from({ length: connections }, loop));
}

process.on("message", (/** @type {number} */ count) => {
  // Where it fails, the process ends, and its parent says so.
  void send(count).then(() => process.send?.("sent"));
});
