// The yardstick for the sender of webhooks: undici in a loop, with one payload and nothing to remember.
import { Pool } from "undici";

/** @type {{ origin: string, paths: string[], headers: Record<string, string>, body: string, count: number, connections: number }} */
const { origin, paths, headers, body, count, connections } = JSON.parse(process.argv[2] ?? "");
const pool = new Pool(origin, { connections, pipelining: 1 });
let sent = 0;

async function loop() {
  while (sent < count) {
    const path = paths[sent++ % paths.length] ?? "/";
    const answer = await pool.request({ method: "POST", path, headers, body });
    await answer.body.dump();
  }
}

await Promise.all(Array.from({ length: connections }, loop));
await pool.close();
