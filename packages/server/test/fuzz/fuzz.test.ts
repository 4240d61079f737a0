import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestService, type TestService } from "../harness/service/test-service.js";
import { createRandom } from "../simulation/world/random.js";
import { createFuzzWorld, type LivingWorld } from "./fuzz-world.js";
import { type FuzzedRequest, fuzzedRequest } from "./fuzzed-request.js";

/** Short and long sizes are in tools/proofs/proofs.mjs. */
const requests = Number(process.env["BURSAR_FUZZ_REQUESTS"]);
const firstSeed = Number(process.env["BURSAR_FUZZ_SEED"] ?? Date.now() % 1_000_000_000);
const isLong = process.env["BURSAR_PROOF_FORM"] === "long";
const inFlight = 16;

/** Quotas have their own tests; here they would refuse requests before they reach the routes. */
const withoutQuotas = Object.fromEntries(
  ["create", "bulk", "read", "manage", "stream", "auth", "address"].flatMap((name) => [
    [`quotas.${name}_per_second`, "1000000"],
    [`quotas.${name}_burst`, "1000000"],
  ]),
);
const faultsMax = 10;

describe("requests generated from the OpenAPI document", () => {
  let service: TestService;
  let world: LivingWorld;
  beforeAll(async () => {
    service = await startTestService(withoutQuotas);
    world = await createFuzzWorld(service);
  });
  afterAll(() => service.stop());

  /** The log lines of a request, because the response reveals nothing internal. */
  const logOf = ({ status, body }: { status: number; body: string }) => {
    const requestId = (JSON.parse(body) as { error?: { request_id?: string } }).error?.request_id ?? "none";
    const lines = service.logLines.filter((line) => line.includes(requestId));
    return `status ${status}: ${lines.join("")}`;
  };

  it(
    `get responses that match the document: ${requests} requests`,
    async () => {
      const faults: string[] = [];
      const statuses = new Map<number, number>();
      let next = 0;
      const work = async () => {
        while (next < requests && faults.length < faultsMax) {
          const seed = firstSeed + next++;
          const request = fuzzedRequest(createRandom(seed), world);
          const outcome = await send(service.url, request);
          if ("fault" in outcome) faults.push(describeFault(seed, request, outcome.fault));
          else {
            statuses.set(outcome.status, (statuses.get(outcome.status) ?? 0) + 1);
            if (outcome.status >= 500) faults.push(describeFault(seed, request, logOf(outcome)));
            else if (outcome.status < 300 && outcome.body !== "") world.learn(outcome.body);
          }
        }
      };
      await Promise.all(Array.from({ length: inFlight }, work));
      if (isLong) process.stdout.write(`statuses: ${JSON.stringify(Object.fromEntries(statuses))}\n`);
      expect(faults).toEqual([]);
      // Enough requests must be accepted, or only authentication and validation have been tested.
      const accepted = [...statuses]
        .filter(([status]) => status < 300)
        .reduce((sum, [, count]) => sum + count, 0);
      expect(accepted).toBeGreaterThan(requests / 5);
    },
    300_000 + requests * 50,
  );
});

/** The harness validates every response against the document, and makes `fetch` fail on a mismatch. */
async function send(
  url: string,
  { method, target, headers, body }: FuzzedRequest,
): Promise<{ status: number; body: string } | { fault: string }> {
  try {
    const response = await fetch(url + target, { method, headers, ...(body === undefined ? {} : { body }) });
    return { status: response.status, body: await response.text() };
  } catch (error) {
    return { fault: String(error) };
  }
}

function describeFault(
  seed: number,
  { method, target, headers, body }: FuzzedRequest,
  fault: string,
): string {
  return `seed ${seed}: ${method} ${target} ${JSON.stringify(headers)} ${body ?? ""}: ${fault}`;
}
