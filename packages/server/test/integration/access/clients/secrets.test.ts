import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listRoutes } from "../../../../src/http/api.js";
import type { Route } from "../../../../src/http/route.js";
import { dumpDatabase } from "../../../harness/database/dump-database.js";
import { bodyOf, createObjects, pathOf } from "../../../harness/http/route-requests.js";
import {
  startTestService,
  type TestClient,
  type TestService,
} from "../../../harness/service/test-service.js";

/**
 * Fifty strings that must not be stored in clear, sent through every route in every part of a request in which a client can put a secret,
 * intentionally or by mistake. The path is excluded, because it contains identifiers and is logged.
 */
const secrets = Array.from({ length: 50 }, () => `s3cr3t-${randomBytes(12).toString("hex")}`);
const routes = listRoutes({} as never, "");

interface Push {
  headers: Record<string, string>;
  query?: string;
  body?: string | undefined;
}

/** Ways to send a secret in a request that is otherwise valid. */
const ways: Record<string, (secret: string, body: object | undefined, authorization: string) => Push> = {
  "as a token": (secret) => ({ headers: { authorization: `Bearer ${secret}` } }),
  "as a token of three parts": (secret) => ({
    headers: { authorization: `Bearer ${secret}.${secret}.${secret}` },
  }),
  "as a password": (secret) => ({ headers: { authorization: `Basic ${base64(`cli_x:${secret}`)}` } }),
  "in unknown headers": (secret, _body, authorization) => ({
    headers: {
      authorization,
      cookie: secret,
      "x-api-key": secret,
      "proxy-authorization": secret,
      "user-agent": secret,
    },
  }),
  "in the query": (secret, _body, authorization) => ({
    headers: { authorization },
    query: `?access_token=${secret}&cursor=${secret}`,
  }),
  "in headers of the signature": (secret, _body, authorization) => ({
    headers: {
      authorization,
      signature: `sig1=:${base64(secret)}:`,
      "signature-input": `sig1=("${secret}")`,
    },
  }),
  "as a digest": (secret, _body, authorization) => ({
    headers: { authorization, "content-digest": `sha-256=:${base64(secret)}:` },
  }),
  "in a malformed idempotency key and tag": (secret, _body, authorization) => ({
    headers: {
      authorization,
      "idempotency-key": `not a key ${secret}`,
      "if-match": secret,
      "if-none-match": secret,
    },
  }),
  "in an unknown field": (secret, body, authorization) => ({
    headers: { authorization },
    body: JSON.stringify({ ...body, password: secret }),
  }),
  "in fields of the wrong type": (secret, body, authorization) => ({
    headers: { authorization },
    body: JSON.stringify(
      Object.fromEntries(Object.keys(body ?? {}).map((name) => [name, { [name]: [secret] }])),
    ),
  }),
  "in truncated JSON": (secret, _body, authorization) => ({
    headers: { authorization },
    body: `{"secret":"${secret}",`,
  }),
  "in a form": (secret, _body, authorization) => ({
    headers: { authorization, "content-type": "application/x-www-form-urlencoded" },
    body: `grant_type=client_credentials&client_id=${secret}&client_secret=${secret}&token=${secret}`,
  }),
  "in a form's assertion": (secret) => ({
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: `grant_type=client_credentials&client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer&client_assertion=${secret}.${secret}.x&token=${secret}`,
  }),
};

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

/** The forms in which a string could be stored: in clear, in base64 without its uneven ends, and as the bytes of a dump. */
function formsOf(secret: string): string[] {
  return [secret, base64(secret).replace(/.{4}$/, ""), Buffer.from(secret).toString("hex")];
}

function foundIn(text: string, texts: readonly string[]): string[] {
  return texts.filter((secret) => formsOf(secret).some((form) => text.includes(form)));
}

describe("secrets", () => {
  let service: TestService;
  let owner: TestClient;
  let token: string;
  let objects: Record<string, string>;
  const answers: string[] = [];
  let count = 0;

  beforeAll(async () => {
    service = await startTestService();
    owner = await service.createTenant();
    token = await service.token(owner);
    objects = await createObjects(service, token, owner.clientId);
  });
  afterAll(() => service.stop());

  async function push(route: Route, make: (typeof ways)[string]): Promise<void> {
    const secret = secrets[count++ % secrets.length] as string;
    const body = route.access === "oauth" ? {} : (bodyOf(route) as object | undefined);
    const sent = make(secret, body, `Bearer ${token}`);
    const text = route.method === "GET" ? undefined : (sent.body ?? (body && JSON.stringify(body)));
    const response = await fetch(service.url + pathOf(route, objects) + (sent.query ?? ""), {
      method: route.method,
      headers: { ...(text === undefined ? {} : { "content-type": "application/json" }), ...sent.headers },
      ...(text === undefined ? {} : { body: text }),
    });
    answers.push(`${JSON.stringify([...response.headers])} ${await response.text()}`);
  }

  // Routes that end a client's access come last, because later requests would be unauthenticated.
  const ordered = [...routes].sort(
    (one, other) => Number(one.method === "DELETE") - Number(other.method === "DELETE"),
  );

  it.each(Object.entries(ways))("are sent through every route %s", async (_way, make) => {
    for (const route of ordered) await push(route, make);
  });

  it("have all been sent", () => {
    expect(count).toBeGreaterThan(secrets.length * 5);
    expect(new Set(answers.map((answer) => /"error"/.test(answer)))).toEqual(new Set([true, false]));
  });

  it("are in no response", () => {
    expect(foundIn(answers.join("\n"), secrets)).toEqual([]);
  });

  it("are in no log line and no metric", async () => {
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    expect(metrics).toContain("bursar_http_request_duration_seconds");
    expect(foundIn(metrics + service.logLines.join("\n"), secrets)).toEqual([]);
  });

  it("are in no table, including secrets that the service issued", async () => {
    // The first tests have removed the owner's secret, and with it its tokens.
    const second = await service.createTenant();
    const secondToken = await service.token(second);
    const path = `/v1/clients/${second.clientId}`;
    const created = (await (
      await service.call("POST", "/v1/clients", secondToken, { name: "other", scopes: [] })
    ).json()) as {
      secret: string;
    };
    const key = (await (
      await service.call("POST", `${path}/keys`, secondToken, { algorithm: "hmac-sha256" })
    ).json()) as {
      secret: string;
    };
    expect([created, key]).toMatchObject([{ secret: expect.any(String) }, { secret: expect.any(String) }]);
    const own = [created.secret, key.secret, second.secret, secondToken, owner.secret, token];
    expect(own.every((secret) => secret.length > 30)).toBe(true);
    // The shared secret of a key is itself base64, so a table could contain its bytes.
    const bytes = Buffer.from(key.secret, "base64").toString("hex");
    const dump = await dumpDatabase(service.database.url);
    expect(dump).toContain("hmac-sha256");
    expect(foundIn(dump, [...secrets, ...own])).toEqual([]);
    expect(dump).not.toContain(bytes);
    expect(foundIn(service.logLines.join("\n"), own)).toEqual([]);
  });
});
