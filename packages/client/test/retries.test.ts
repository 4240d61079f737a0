import { type BursarError, isBursarError } from "@bursar/client";
import { describe, expect, it } from "vitest";
import {
  connectionError,
  errorAnswer,
  json,
  type Step,
  scriptedService,
} from "./harness/scripted-service.js";

const payment = { reference: "invoice-2041", asset: "USD", amount: "125.50" };
const accepted = () => json(202, { id: "tx_1", state: "accepted" });

async function failureOf(work: Promise<unknown>): Promise<BursarError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!isBursarError(error)) throw new Error(`not a BursarError: ${error}`);
  return error;
}

describe("retries", () => {
  it.each<[string, () => Step]>([
    ["a lost connection", () => connectionError("UND_ERR_SOCKET")],
    ["a refused connection", () => connectionError("ECONNREFUSED")],
    ["408", () => errorAnswer(408, "REQUEST_TIMEOUT")],
    ["429", () => errorAnswer(429, "RATE_LIMITED")],
    ["500", () => errorAnswer(500, "INTERNAL_ERROR")],
    ["502 in HTML", () => new Response("<html>", { status: 502 })],
    ["503", () => errorAnswer(503, "UNAVAILABLE")],
    ["504", () => errorAnswer(504, "X")],
    ["a body that is not JSON", () => new Response('{"id":', { status: 202 })],
  ])("a payment is repeated with the same key after %s", async (_name, step) => {
    const { bursar, requests } = scriptedService([step(), accepted()]);
    const transaction = await bursar.transactions.create(payment);
    const keys = requests.map(({ headers }) => headers["idempotency-key"]);
    expect(keys).toEqual([transaction.lastResponse.idempotencyKey, transaction.lastResponse.idempotencyKey]);
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(transaction.lastResponse.attempts).toBe(2);
    expect(requests[0]?.body).toBe(requests[1]?.body);
  });

  it.each([400, 402, 403, 404, 409, 410, 412, 422])("a %i is never repeated", async (status) => {
    const { bursar, requests } = scriptedService([errorAnswer(status, "SOME_CODE")]);
    const error = await failureOf(bursar.transactions.create(payment, { idempotencyKey: "invoice-2041" }));
    expect(error).toMatchObject({
      code: "SOME_CODE",
      status,
      outcome: "refused",
      attempts: 1,
      requestId: "req_2",
      idempotencyKey: "invoice-2041",
    });
    expect(requests).toHaveLength(1);
  });

  it("pauses are drawn from the whole range up to 0.5, 1, 2 and 4 seconds, and there are at most four", async () => {
    const drawn = [1, 0, 0.25, 0.999];
    const steps = Array.from({ length: 5 }, () => errorAnswer(503, "UNAVAILABLE"));
    const { bursar, runtime } = scriptedService(steps, {}, () => drawn.shift() ?? 0);
    const error = await failureOf(bursar.transactions.create(payment));
    expect(runtime.pauses).toEqual([500, 0, 500, 3996]);
    expect(error).toMatchObject({ attempts: 5, outcome: "unknown", code: "UNAVAILABLE" });
  });

  it("Retry-After is waited for", async () => {
    const { bursar, runtime } = scriptedService([
      errorAnswer(429, "RATE_LIMITED", { "retry-after": "7" }),
      accepted(),
    ]);
    await bursar.transactions.create(payment);
    expect(runtime.pauses).toEqual([7000]);
  });

  it("Retry-After as a date is waited for", async () => {
    const date = new Date(1_800_000_000_000 + 9000).toUTCString();
    const { bursar, runtime } = scriptedService([
      errorAnswer(503, "OVERLOADED", { "retry-after": date }),
      accepted(),
    ]);
    await bursar.transactions.create(payment);
    expect(runtime.pauses).toEqual([9000]);
  });

  it("a Retry-After beyond the remaining time is an error at once", async () => {
    const { bursar, runtime } = scriptedService([
      errorAnswer(429, "RATE_LIMITED", { "retry-after": "86400" }),
    ]);
    const error = await failureOf(bursar.transactions.create(payment));
    expect(error).toMatchObject({
      code: "RATE_LIMITED",
      outcome: "refused",
      attempts: 1,
      retryAfterMs: 86_400_000,
    });
    expect(runtime.pauses).toEqual([]);
  });

  it("the pauses of a call end with its time", async () => {
    const steps = Array.from({ length: 5 }, () => errorAnswer(429, "RATE_LIMITED", { "retry-after": "25" }));
    const { bursar, runtime } = scriptedService(steps);
    const error = await failureOf(bursar.transactions.create(payment));
    expect(runtime.pauses).toEqual([25_000, 25_000]);
    expect(error.attempts).toBe(3);
  });

  it("a call that could act twice is not repeated if its response was lost", async () => {
    const { bursar, requests } = scriptedService([connectionError("UND_ERR_SOCKET")]);
    const error = await failureOf(bursar.transactions.speedUp("tx_1"));
    expect(error.outcome).toBe("unknown");
    expect(requests).toHaveLength(1);
  });

  it("a call that could act twice is repeated if it was not sent, and if it was refused for now", async () => {
    const { bursar, requests } = scriptedService([
      connectionError("ECONNREFUSED"),
      errorAnswer(429, "RATE_LIMITED"),
      json(202, { id: "tx_1" }),
    ]);
    await bursar.transactions.speedUp("tx_1");
    expect(requests).toHaveLength(3);
  });
});

describe("the outcome", () => {
  it("is not_sent if no attempt has reached the service", async () => {
    const steps = Array.from({ length: 5 }, () => connectionError("ENOTFOUND"));
    expect(await failureOf(scriptedService(steps).bursar.transactions.create(payment))).toMatchObject({
      code: "CONNECTION_FAILED",
      outcome: "not_sent",
      attempts: 5,
    });
  });

  it("stays unknown if the repetition of a lost request is refused: the first may have been accepted", async () => {
    const { bursar } = scriptedService([connectionError("ECONNRESET"), errorAnswer(403, "POLICY_REJECTED")]);
    const error = await failureOf(bursar.transactions.create(payment));
    expect(error).toMatchObject({ code: "POLICY_REJECTED", outcome: "unknown", attempts: 2 });
  });

  it("of a read is that of its last attempt", async () => {
    const { bursar } = scriptedService([
      connectionError("ECONNRESET"),
      errorAnswer(404, "TRANSACTION_NOT_FOUND"),
    ]);
    expect(await failureOf(bursar.transactions.get("tx_1"))).toMatchObject({ outcome: "refused" });
  });

  it("is unknown if something else than the service has refused the request", async () => {
    const { bursar } = scriptedService([new Response("<h1>Forbidden</h1>", { status: 403 })]);
    expect(await failureOf(bursar.transactions.create(payment))).toMatchObject({
      code: "RESPONSE_INVALID",
      outcome: "unknown",
      status: 403,
    });
  });

  it("is not_sent for an argument that cannot be sent", async () => {
    const { bursar, requests } = scriptedService([]);
    for (const id of ["", ".", ".."])
      expect(await failureOf(bursar.transactions.get(id))).toMatchObject({
        code: "INVALID_ARGUMENT",
        outcome: "not_sent",
      });
    const error = await failureOf(bursar.transactions.create(payment, { idempotencyKey: 'with "quotes"' }));
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", outcome: "not_sent" });
    expect(requests).toEqual([]);
  });
});

describe("a signal", () => {
  it("ends an attempt", async () => {
    const controller = new AbortController();
    const never = () => {
      setImmediate(() => controller.abort());
      return new Promise<Response>(() => undefined);
    };
    const { bursar } = scriptedService([never]);
    const error = await failureOf(bursar.transactions.create(payment, { signal: controller.signal }));
    expect(error).toMatchObject({ code: "ABORTED", outcome: "unknown", attempts: 1 });
  });

  it("ends a body that does not end", async () => {
    const controller = new AbortController();
    const stalled = () => {
      setImmediate(() => controller.abort());
      return new Response(
        new ReadableStream({ start: (stream) => stream.enqueue(new TextEncoder().encode("{")) }),
      );
    };
    const { bursar } = scriptedService([stalled]);
    expect(await failureOf(bursar.transactions.get("tx_1", { signal: controller.signal }))).toMatchObject({
      code: "ABORTED",
    });
  });

  it("ends a pause", async () => {
    const controller = new AbortController();
    const { bursar, requests } = scriptedService([errorAnswer(429, "RATE_LIMITED")], {
      runtime: { schedule: () => () => undefined },
      onResponse: ({ status }) => status === 429 && setImmediate(() => controller.abort()),
    });
    const error = await failureOf(bursar.transactions.create(payment, { signal: controller.signal }));
    expect(error).toMatchObject({ code: "ABORTED", outcome: "refused" });
    expect(requests).toHaveLength(1);
  });

  it("that is aborted already sends nothing", async () => {
    const { bursar, requests } = scriptedService([]);
    const error = await failureOf(bursar.transactions.create(payment, { signal: AbortSignal.abort() }));
    expect(error).toMatchObject({ code: "ABORTED", outcome: "not_sent" });
    expect(requests).toEqual([]);
  });
});

describe("hooks", () => {
  it("see every attempt, and cannot break a call", async () => {
    const seen: unknown[] = [];
    const { bursar } = scriptedService([errorAnswer(503, "UNAVAILABLE"), accepted()], {
      onRequest: ({ operation, attempt }) => {
        seen.push([operation, attempt]);
        throw new Error("a faulty hook");
      },
      onResponse: ({ status, attempt }) => {
        seen.push([status, attempt]);
      },
    });
    await bursar.transactions.create(payment);
    expect(seen).toEqual([
      ["POST /oauth/token", 1],
      [200, 1],
      ["POST /v1/transactions", 1],
      [503, 1],
      ["POST /v1/transactions", 2],
      [202, 2],
    ]);
  });
});
