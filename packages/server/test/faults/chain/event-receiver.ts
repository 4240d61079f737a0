import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Transaction } from "@bursar/protocol";

/** What the webhooks of a transaction have said about it. */
interface SeenTransaction {
  /** The versions that arrived. */
  versions: Set<number>;
  /** The highest of them, and its content. */
  version: number;
  digest: string;
}

/** Receives the webhooks of many transactions, and keeps little of each. */
export interface EventReceiver {
  url: string;
  seen: ReadonlyMap<string, SeenTransaction>;
  stop: () => Promise<void>;
}

interface Delivery {
  event: string;
  data: { transaction: Transaction; challenge: string };
}

export function digestOf(transaction: Transaction): string {
  return createHash("sha256").update(JSON.stringify(transaction)).digest("base64");
}

export async function startEventReceiver(): Promise<EventReceiver> {
  const seen = new Map<string, SeenTransaction>();

  function take(transaction: Transaction): void {
    const { id, version } = transaction;
    const known = seen.get(id) ?? { versions: new Set<number>(), version: 0, digest: "" };
    known.versions.add(version);
    if (version >= known.version) {
      known.version = version;
      known.digest = digestOf(transaction);
    }
    seen.set(id, known);
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("error", () => undefined);
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { event, data } = JSON.parse(Buffer.concat(chunks).toString("utf8")) as Delivery;
      if (event === "endpoint.challenge") return void response.end(data.challenge);
      take(data.transaction);
      response.end("thanks");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
