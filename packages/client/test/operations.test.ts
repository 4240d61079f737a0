import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { json, scriptedService } from "./harness/scripted-service.js";

interface DocumentedOperation {
  security?: unknown[];
  parameters?: { name: string; in: string }[];
}

const document = JSON.parse(readFileSync(new URL("../../../openapi.json", import.meta.url), "utf8")) as {
  paths: Record<string, Record<string, DocumentedOperation>>;
};
const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${path}`,
    operation,
  })),
);
/** It is a WebSocket. */
const streamed = ["GET /v1/stream"];

/** The methods that open it. They end only when they are made to. */
const streaming = ["follow", "live"];

type Method = (...args: unknown[]) => unknown;

/** Calls every method of the client, and returns the operations that came of them. */
async function callEverything(): Promise<Set<string>> {
  const operations = new Set<string>();
  const { bursar } = scriptedService([], {
    retriesMax: 0,
    onRequest: ({ operation }) => operations.add(operation),
  });
  const resources = Object.values(bursar) as unknown as Record<string, Method>[];
  const methods = resources.flatMap((resource) => Object.entries(resource));
  for (const [name, method] of methods) {
    if (streaming.includes(name)) continue;
    const result = method("ID", "ID2");
    if (typeof result === "object" && result !== null && "page" in result)
      await swallow((result.page as Method)());
    else if (typeof result === "object" && result !== null && Symbol.asyncIterator in result)
      await swallow((result as AsyncGenerator).next());
    else await swallow(result);
  }
  return operations;
}

async function swallow(work: unknown): Promise<void> {
  await Promise.resolve(work).catch(() => undefined);
}

describe("the client and the OpenAPI document", () => {
  it("have the same operations", async () => {
    const operations = await callEverything();
    const expected = documented.map(({ name }) => name).filter((name) => !streamed.includes(name));
    expect([...operations].sort()).toEqual(expected.sort());
  });

  it("agree about which calls have an idempotency key, and which need no token", async () => {
    const { bursar, requests } = scriptedService([() => json(200, {}), () => json(200, {})]);
    await bursar.service.liveness();
    expect(requests[0]?.headers).not.toHaveProperty("authorization");
    await bursar.wallets.create({ name: "a", purpose: "payout" });
    expect(requests[1]?.headers).toMatchObject({
      authorization: "Bearer token-1",
      "idempotency-key": expect.any(String),
    });
  });
});
