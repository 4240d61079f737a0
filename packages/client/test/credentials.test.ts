import { generateKeyPairSync, verify } from "node:crypto";
import { inspect } from "node:util";
import { BursarError, createBursar, isBursarError } from "@bursar/client";
import { afterEach, describe, expect, it, vi } from "vitest";
import { connectionError, errorAnswer, json, scriptedService, secret } from "./harness/scripted-service.js";

afterEach(() => {
  vi.unstubAllGlobals();
});

const wallet = () => json(200, { id: "wlt_1" });

describe("tokens", () => {
  it("one request serves all calls that wait for a token", async () => {
    const { bursar, requests, tokenRequests } = scriptedService([wallet(), wallet(), wallet()]);
    await Promise.all([1, 2, 3].map(() => bursar.wallets.get("wlt_1")));
    expect(tokenRequests).toHaveLength(1);
    expect(requests.map(({ headers }) => headers["authorization"])).toEqual(Array(3).fill("Bearer token-1"));
  });

  it("are renewed 60 seconds before they expire", async () => {
    let elapsed = 0;
    const { bursar, tokenRequests } = scriptedService([wallet(), wallet(), wallet()], {
      runtime: { monotonicMs: () => elapsed },
    });
    await bursar.wallets.get("wlt_1");
    elapsed = 839_000;
    await bursar.wallets.get("wlt_1");
    expect(tokenRequests).toHaveLength(1);
    elapsed = 840_000;
    await bursar.wallets.get("wlt_1");
    expect(tokenRequests).toHaveLength(2);
  });

  it("are renewed once after a 401, and then the 401 is the result", async () => {
    const { bursar, requests } = scriptedService([errorAnswer(401, "TOKEN_REVOKED"), wallet()]);
    await bursar.wallets.get("wlt_1");
    expect(requests.map(({ headers }) => headers["authorization"])).toEqual([
      "Bearer token-1",
      "Bearer token-2",
    ]);
    const twice = scriptedService([errorAnswer(401, "TOKEN_REVOKED"), errorAnswer(401, "TOKEN_REVOKED")]);
    await expect(twice.bursar.wallets.get("wlt_1")).rejects.toMatchObject({
      code: "TOKEN_REVOKED",
      outcome: "refused",
      attempts: 2,
    });
  });

  it("are not renewed after a refused signature", async () => {
    const { bursar, requests } = scriptedService([errorAnswer(401, "SIGNATURE_REQUIRED")]);
    await expect(bursar.wallets.get("wlt_1")).rejects.toMatchObject({ code: "SIGNATURE_REQUIRED" });
    expect(requests).toHaveLength(1);
  });

  it("that cannot be had leave the call unsent", async () => {
    const refused = () =>
      json(401, { error: "invalid_client", error_description: "The credentials are not valid." });
    const { bursar } = scriptedService([], { fetch: async () => refused() });
    await expect(bursar.deposits.create({} as never)).rejects.toMatchObject({
      code: "INVALID_CLIENT",
      message: "The credentials are not valid.",
      outcome: "not_sent",
      attempts: 0,
    });
  });

  it("come from a function if that is given, and are asked for again after a 401", async () => {
    let calls = 0;
    const credentials = () => `own-${++calls}`;
    const { bursar, requests } = scriptedService([errorAnswer(401, "TOKEN_EXPIRED"), wallet()], {
      credentials,
    });
    await bursar.wallets.get("wlt_1");
    expect(requests.map(({ headers }) => headers["authorization"])).toEqual(["Bearer own-1", "Bearer own-2"]);
  });
});

describe("a key", () => {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const pem = privateKey.export({ format: "pem", type: "pkcs8" }).toString();
  const jwk = privateKey.export({ format: "jwk" }) as { kty: "OKP"; crv: "Ed25519"; d: string; x: string };
  const baseOf = ({
    method,
    url,
    headers,
  }: {
    method: string;
    url: string;
    headers: Record<string, string>;
  }) => {
    const params = (headers["signature-input"] ?? "").replace(/^sig1=/, "");
    const names = [...(params.split(")")[0] ?? "").matchAll(/"([^"]+)"/g)].map(([, name = ""]) => name);
    const partOf = (name: string) =>
      name === "@method" ? method : name === "@target-uri" ? url : headers[name];
    return [...names.map((name) => `"${name}": ${partOf(name)}`), `"@signature-params": ${params}`].join(
      "\n",
    );
  };

  it.each([
    ["PEM", pem],
    ["a JWK", jwk],
  ])("as %s signs every attempt, each with a nonce of its own, and asks for tokens", async (_name, key) => {
    const { bursar, requests, tokenRequests } = scriptedService(
      [connectionError("ECONNRESET"), json(202, { id: "tx_1" })],
      {
        credentials: { clientId: "cli_1", keyId: "key_1", privateKey: key },
      },
    );
    await bursar.transactions.create({ reference: "a", asset: "USD", amount: "1" });
    for (const request of requests) {
      const signature = /^sig1=:(.*):$/.exec(request.headers["signature"] ?? "")?.[1] ?? "";
      expect(verify(null, Buffer.from(baseOf(request)), publicKey, Buffer.from(signature, "base64"))).toBe(
        true,
      );
      expect(request.headers["signature-input"]).toContain(
        '("@method" "@target-uri" "authorization" "content-digest" "idempotency-key")',
      );
    }
    const nonces = requests.map(({ headers }) => /nonce="(\w+)"/.exec(headers["signature-input"] ?? "")?.[1]);
    expect(new Set(nonces).size).toBe(2);
    const form = new URLSearchParams(tokenRequests[0]?.body);
    const [head = "", claims = "", signature = ""] = (form.get("client_assertion") ?? "").split(".");
    expect(
      verify(null, Buffer.from(`${head}.${claims}`), publicKey, Buffer.from(signature, "base64url")),
    ).toBe(true);
    expect(JSON.parse(Buffer.from(claims, "base64url").toString())).toMatchObject({
      iss: "cli_1",
      sub: "cli_1",
      aud: "https://pay.example",
      exp: 1_800_000_060,
    });
  });

  it("without the id of a key is refused", () => {
    for (const keyId of [undefined, "", "two words"])
      expect(() =>
        scriptedService([], {
          credentials: { clientId: "cli_1", keyId: keyId as string, privateKey: "PEM" },
        }),
      ).toThrow("credentials.keyId must be the id of the registered key.");
  });

  it("that cannot be read is refused without showing it", async () => {
    const { bursar } = scriptedService([], {
      credentials: {
        clientId: "cli_1",
        keyId: "key_1",
        privateKey: "-----BEGIN PRIVATE KEY-----c2VjcmV0-----END PRIVATE KEY-----",
      },
    });
    const error = await bursar.wallets.get("wlt_1").catch((thrown: unknown) => thrown);
    expect(isBursarError(error, "CREDENTIALS_INVALID")).toBe(true);
    expect(inspect(error, { depth: 10 })).not.toContain("c2VjcmV0");
  });
});

describe("a secret", () => {
  it("is refused in a browser", () => {
    vi.stubGlobal("process", undefined);
    vi.stubGlobal("document", {});
    const credentials = { clientId: "cli_1", secret };
    expect(() => createBursar({ baseUrl: "https://pay.example", credentials })).toThrow(
      /A secret in a web page can be read/,
    );
    expect(() => createBursar({ baseUrl: "https://pay.example", credentials: () => "token" })).not.toThrow();
  });

  it("is neither in the client nor in its errors", async () => {
    const failures = [
      connectionError("ECONNRESET"),
      errorAnswer(403, "POLICY_REJECTED"),
      new Response("<html>", { status: 200 }),
      errorAnswer(401, "TOKEN_INVALID"),
    ];
    for (const failure of failures) {
      const { bursar } = scriptedService([failure], { retriesMax: 0 });
      const error: unknown = await bursar.transactions.speedUp("tx_1").catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(Error);
      for (const shown of [bursar, error]) {
        const text =
          inspect(shown, { depth: 20, showHidden: true }) +
          JSON.stringify(shown) +
          String((shown as Error).stack);
        expect(text).not.toContain(secret);
        expect(text).not.toContain("token-1");
      }
    }
  });

  it("that is no header value is not shown by the error about it", async () => {
    const { bursar } = scriptedService([], { credentials: () => "hidden\nvalue" });
    const error = await bursar.wallets.get("wlt_1").catch((thrown: unknown) => thrown);
    expect(isBursarError(error, "CREDENTIALS_INVALID")).toBe(true);
    expect(inspect(error, { depth: 20 })).not.toContain("hidden");
  });
});

describe("a confirmation", () => {
  const confirm = async ({ operation }: { operation: string }) =>
    operation.startsWith("DELETE") ? "assertion" : undefined;
  const remove = { operation: "DELETE /v1/destinations/{id}", target: "/v1/destinations/dst%201" };

  it("is asked for with what is sent, and sent with it", async () => {
    const asked: unknown[] = [];
    const service = scriptedService([json(204, undefined), wallet()], {
      confirm: (request) => {
        asked.push(request);
        return confirm(request);
      },
    });
    await service.bursar.destinations.remove("dst 1");
    await service.bursar.wallets.get("wlt_1");
    expect(asked[0]).toEqual({ ...remove, body: undefined });
    expect(service.requests.map(({ headers }) => headers["bursar-passkey"])).toEqual([
      "assertion",
      undefined,
    ]);
  });

  it("is sent again with a new token, and with no other attempt", async () => {
    const refused = scriptedService([errorAnswer(401, "TOKEN_INVALID"), json(204, undefined)], { confirm });
    await refused.bursar.destinations.remove("dst_1");
    expect(refused.requests.map(({ headers }) => headers["bursar-passkey"])).toEqual([
      "assertion",
      "assertion",
    ]);
    const broken = scriptedService([errorAnswer(503, "UNAVAILABLE"), json(204, undefined)], { confirm });
    await expect(broken.bursar.destinations.remove("dst_1")).rejects.toMatchObject({ outcome: "unknown" });
    expect(broken.requests).toHaveLength(1);
  });

  it("that is refused by the person ends the call before it is sent", async () => {
    const service = scriptedService([], { confirm: () => Promise.reject(new Error("cancelled")) });
    await expect(service.bursar.destinations.remove("dst_1")).rejects.toThrow("cancelled");
    expect(service.requests).toHaveLength(0);
  });
});

describe("the address", () => {
  it.each([
    "",
    "pay.example",
    "ftp://pay.example",
    "https://user:word@pay.example",
    "https://pay.example?x=1",
  ])("%j is refused", (baseUrl) => {
    expect(() => createBursar({ baseUrl, credentials: () => "token" })).toThrow(BursarError);
  });

  it("may have a path and a slash at its end", async () => {
    const { bursar, requests } = scriptedService([wallet()], { baseUrl: "https://pay.example/bursar/" });
    await bursar.wallets.get("wlt/1");
    expect(requests[0]?.url).toBe("https://pay.example/bursar/v1/wallets/wlt%2F1");
  });
});
