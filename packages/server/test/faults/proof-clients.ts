import { randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type Bursar, createBursar, isBursarError } from "@bursar/client";
import type { TestClient } from "../harness/service/test-service.js";

/** The clients of a proof. A call is one attempt: what is repeated, and how often, belongs to the proof. */
export interface ProofClients {
  /** At one process, or for each request at any of them. */
  bursarOf: (client: TestClient, url?: string) => Bursar;
  /** Requests a token until a process issues it. */
  tokenOf: (client: TestClient) => Promise<string>;
}

const timeoutMs = 15_000;
const retryMs = 100;
const anyUrl = "http://bursar.test";

export function createProofClients(urls: readonly string[]): ProofClients {
  const made = new Map<string, Bursar>();

  function bursarOf({ clientId, secret }: TestClient, url = anyUrl): Bursar {
    const name = `${clientId} ${url}`;
    const known = made.get(name);
    if (known !== undefined) return known;
    const bursar = createBursar({
      baseUrl: url,
      credentials: { clientId, secret },
      retriesMax: 0,
      timeoutMs,
      fetch: (target, init) => fetch(target.replace(anyUrl, urls[randomInt(urls.length)] ?? ""), init),
    });
    made.set(name, bursar);
    return bursar;
  }

  return {
    bursarOf,
    tokenOf: async (client) => {
      for (;;) {
        try {
          return await bursarOf(client).tokens.current();
        } catch (error) {
          if (!isBursarError(error) || error.status === 401) throw error;
          await sleep(retryMs);
        }
      }
    },
  };
}
