// A receiver of webhooks, as a process of its own.
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

/** @typedef {import("./load/receiver.mjs").Received} Received */

export async function startReceiver() {
  const child = fork(join(import.meta.dirname, "load/receiver.mjs"));
  const [{ port }] = await once(child, "message");
  return {
    origin: `http://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    /** Runs the work and waits until as many deliveries as expected were received. @param {number} expected @param {boolean} isTimed @param {() => Promise<unknown>} work @returns {Promise<Received>} */
    expect: async (expected, isTimed, work) => {
      child.send({ expected, isTimed });
      await once(child, "message");
      const received = once(child, "message");
      await work();
      return (await received)[0];
    },
    stop: () => child.kill("SIGKILL"),
  };
}
