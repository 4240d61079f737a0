import { createHash } from "node:crypto";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** Stands between a process and PostgreSQL, and loses one COMMIT of a transaction that has used a certain table. */
export interface LostCommitProxy {
  /** The URL of the database through the proxy. */
  url: string;
  /** The next such COMMIT gets no answer; `executed` says whether the server receives it. */
  loseNext: (table: string, executed: boolean) => void;
  lost: () => number;
  close: () => Promise<void>;
}

/** The name under which the service prepares it. */
const commitName = createHash("sha256").update("COMMIT").digest("base64url").slice(0, 22);

export async function createLostCommitProxy(databaseUrl: string): Promise<LostCommitProxy> {
  const { hostname, port } = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let plan: { table: string; executed: boolean } | undefined;
  let lost = 0;

  const server = createServer((incoming) => {
    const outgoing = connect(Number(port), hostname);
    let sent = "";
    let isLosing = false;
    for (const socket of [incoming, outgoing]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => sockets.delete(socket));
    }
    // The server finishes what it has received before it closes, so the client learns nothing earlier.
    outgoing.on("close", () => incoming.resetAndDestroy());
    incoming.on("close", () => outgoing.end());
    outgoing.on("data", (chunk) => {
      if (!isLosing) incoming.write(chunk);
    });
    incoming.on("data", (chunk) => {
      // The first use of a statement in a connection sends its text, every use its name.
      sent += chunk.toString("latin1");
      const usedAt = plan === undefined ? -1 : sent.indexOf(plan.table);
      if (plan === undefined || usedAt === -1 || !sent.includes(commitName, usedAt)) {
        outgoing.write(chunk);
        return;
      }
      isLosing = true;
      if (plan.executed) outgoing.end(chunk);
      else outgoing.destroy();
      plan = undefined;
      lost += 1;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = new URL(databaseUrl);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    loseNext: (table, executed) => {
      plan = { table, executed };
    },
    lost: () => lost,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
