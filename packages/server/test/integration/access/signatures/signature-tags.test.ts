import { createHash, generateKeyPairSync, randomBytes } from "node:crypto";
import { createSigner, httpbis } from "http-message-signatures";
import { beforeAll, describe, expect, it } from "vitest";
import { newKeyPair } from "../../../harness/http/signed-call.js";
import { sharedService } from "../../../harness/service/shared-service.js";

const service = await sharedService();

describe("requests with several signatures", () => {
  const pair = newKeyPair();
  let token: string;
  let keyId: string;
  let clientId: string;

  beforeAll(async () => {
    const owner = await service.createTenant();
    clientId = owner.clientId;
    token = await service.token(owner);
    keyId = await service.addKeyAsOperator(owner, pair.publicKey);
  });

  /** Signs with a public library, once for each of these, and returns the response. */
  const sendFromLibrary = async (
    signatures: { name: string; tag?: string; key?: typeof pair.privateKey; keyId?: string }[],
  ) => {
    const body = '{"name":"from a library","scopes":[]}';
    let request = {
      method: "POST",
      url: `${service.url}/v1/clients`,
      headers: {
        Authorization: `Bearer ${token}`,
        "Content-Type": "application/json",
        "Content-Digest": `sha-256=:${createHash("sha256").update(body).digest("base64")}:`,
        "Idempotency-Key": randomBytes(8).toString("hex"),
      },
    };
    for (const { name, tag, key = pair.privateKey, keyId: named = keyId } of signatures) {
      const signed = await httpbis.signMessage(
        {
          name,
          key: createSigner(key, "ed25519", named),
          fields: ["@method", "@target-uri", "authorization", "content-digest", "idempotency-key"],
          params: ["created", "expires", "nonce", "keyid", ...(tag === undefined ? [] : ["tag"])],
          paramValues: {
            created: new Date(),
            expires: new Date(Date.now() + 60_000),
            nonce: randomBytes(16).toString("base64url"),
            ...(tag === undefined ? {} : { tag }),
          },
        },
        request,
      );
      request = signed as typeof request;
    }
    const response = await fetch(`${service.url}/v1/clients`, {
      method: "POST",
      headers: request.headers,
      body,
    });
    const { error } = (await response.json()) as { error?: { code: string; message: string } };
    return [response.status, error?.message];
  };

  const ours = "bursar-v1";
  const stranger = generateKeyPairSync("ed25519").privateKey;

  it("are accepted from a public library, under any label", async () => {
    for (const name of ["sig1", "sig", "my-signature"])
      expect(await sendFromLibrary([{ name, tag: ours }])).toEqual([201, undefined]);
  });

  it("are found by their tag among the signatures of others", async () => {
    const proxy = { name: "sig1", tag: "proxy-v2", key: stranger };
    const untagged = { name: "edge", key: stranger };
    expect(await sendFromLibrary([proxy, { name: "b", tag: ours }])).toEqual([201, undefined]);
    expect(await sendFromLibrary([{ name: "b", tag: ours }, untagged, proxy])).toEqual([201, undefined]);
  });

  it.each<[what: string, signatures: Parameters<typeof sendFromLibrary>[0], message: string]>([
    [
      "two have the tag, of which one verifies",
      [
        { name: "sig1", tag: ours, key: stranger },
        { name: "sig2", tag: ours },
      ],
      "2 signatures have the tag bursar-v1; send one of them.",
    ],
    [
      "several have other tags",
      [{ name: "sig1", tag: "other" }, { name: "sig2" }],
      "None of the 2 signatures has the tag bursar-v1.",
    ],
    ["the only one has no tag", [{ name: "sig1" }], "tag must be bursar-v1."],
  ])("are refused if %s", async (_what, signatures, message) => {
    expect(await sendFromLibrary(signatures)).toEqual([401, message]);
  });

  it.each([
    ["(((", "sig1=:AAAA:", "Signature-Input is not well-formed."],
    ["", "sig1=:AAAA:", "Signature-Input is not well-formed."],
    ['a=("date");tag="bursar-v1"', "sig1=:AAAA:", "The signature with the label a is not well-formed."],
    ['a="date";tag="bursar-v1"', "a=:AAAA:", "The signature with the label a is not well-formed."],
  ])("are refused with the malformed headers %j and %j", async (input, signature, message) => {
    const answer = await service.call("GET", "/v1/clients", token, undefined, {
      "signature-input": input,
      signature,
    });
    expect([answer.status, await answer.json()]).toMatchObject([401, { error: { message } }]);
  });

  it("of others alone leave a request unsigned, which a client that must sign cannot send", async () => {
    const proxy = { name: "sig1", tag: "proxy-v2", key: stranger, keyId: "edge-7" };
    const untagged = { name: "edge", key: stranger, keyId: "edge-7" };
    expect(await sendFromLibrary([proxy])).toEqual([201, undefined]);
    expect(await sendFromLibrary([proxy, untagged])).toEqual([201, undefined]);
    const change = { require_signature: true };
    expect((await service.call("PATCH", `/v1/clients/${clientId}`, token, change)).status).toBe(200);
    expect(await sendFromLibrary([proxy])).toEqual([401, "This client must sign its requests."]);
  });
});
