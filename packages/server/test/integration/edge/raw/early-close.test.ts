import { once } from "node:events";
import { Type } from "typebox";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AuditDraft } from "../../../../src/app/audit/audit-entry.js";
import { defineRoute } from "../../../../src/http/route.js";
import { eventually } from "../../../harness/eventually.js";
import { connectTo } from "../../../harness/http/raw-exchange.js";
import { closedGuard, createTestEdge, type TestEdge } from "../../../harness/http/test-edge.js";

const guarded = defineRoute(
  {
    method: "GET",
    path: "/v1/guarded",
    access: "clients:manage",
    operationId: "guarded",
    tag: "Operations",
    summary: "A route of the test",
    success: { status: 200, schema: Type.Object({}), description: "Nothing." },
    errors: [],
  },
  () => ({}),
);

describe("a refused attempt", () => {
  let edge: TestEdge;
  let recorded: AuditDraft[];
  /** Called when the request has arrived; the refusal waits for what it returns. */
  let beforeRefusal: () => Promise<unknown> | undefined;
  beforeEach(async () => {
    recorded = [];
    const authenticate = () =>
      beforeRefusal()?.then(() => ({ refused: "UNAUTHENTICATED" as const })) ?? {
        refused: "UNAUTHENTICATED" as const,
      };
    edge = await createTestEdge([guarded], {
      guard: {
        ...closedGuard,
        authenticator: { ...closedGuard.authenticator, authenticate },
        audit: { ...closedGuard.audit, record: (draft) => void recorded.push(draft) },
      },
    });
  });
  afterEach(() => edge.app.close());

  const listen = () => edge.app.listen({ host: "127.0.0.1", port: 0 });
  const bytes = "GET /v1/guarded HTTP/1.1\r\nHost: a\r\n\r\n";
  const lines = () => edge.logLines.filter(({ path, msg }) => path === "/v1/guarded" && msg === "request");
  const serverSocket = async () => (await once(edge.app.server, "connection"))[0];

  async function expectOneRecord(): Promise<void> {
    await eventually(
      async () => lines().length,
      (count) => count > 0,
    );
    // Whatever would be recorded twice has been by the time that another request is answered.
    const metrics = (await edge.app.inject("/metrics")).body;
    expect(lines()).toMatchObject([{ status: 401 }]);
    expect(recorded).toMatchObject([{ action: "GET /v1/guarded", code: "UNAUTHENTICATED", repeated: 1 }]);
    expect(metrics).toMatch(/^bursar_errors_total\{code="UNAUTHENTICATED"\} 1$/m);
    expect(metrics).toMatch(/_duration_seconds_count\{method="GET",route="\/v1\/guarded",status="401"\} 1$/m);
  }

  it("is recorded once if its client waits for the response", async () => {
    beforeRefusal = () => undefined;
    expect((await edge.app.inject("/v1/guarded")).statusCode).toBe(401);
    await expectOneRecord();
  });

  it("is recorded once if its client disconnects before it is refused", async () => {
    await listen();
    const connected = serverSocket();
    const client = connectTo(edge.app);
    beforeRefusal = async () => {
      client.destroy();
      await once(await connected, "close");
    };
    client.write(bytes);
    await expectOneRecord();
  });

  it("is recorded once if its response waits behind another one when its client disconnects", async () => {
    let release: () => void = () => undefined;
    const closed = new Promise<void>((resolve) => {
      release = resolve;
    });
    edge.app.get("/slow", async () => {
      await closed;
      return {};
    });
    await listen();
    const connected = serverSocket();
    const client = connectTo(edge.app);
    beforeRefusal = () => {
      setImmediate(() => client.destroy());
      return undefined;
    };
    client.write(`GET /slow HTTP/1.1\r\nHost: a\r\n\r\n${bytes}`);
    await once(await connected, "close");
    release();
    await expectOneRecord();
  });
});
