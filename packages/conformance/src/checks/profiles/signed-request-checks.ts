import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { type Check, expect, NotOffered, profileCheck } from "../../engine/check.js";
import { type CreateOptions, type Kit, urlOf } from "../../engine/kit.js";
import { describeReply } from "../../http/reply.js";
import { type SigningOptions, signRequest } from "../../signatures/sign-request.js";
import type { SignedRequestTarget } from "../../target/target.js";
import { expectRefused, isAccepted, rawAt } from "../scenarios.js";
import { sendDescribed } from "../webhooks/webhook-endpoint.js";

const profile = "rfc9421";
const accepted = "rfc9421.request.accepted";
const writes = ["transaction", "signing key"] as const;
const hourSeconds = 3600;

interface RegisteredKey {
  readonly keyId: string;
  readonly privateKey: KeyObject;
  readonly described: SignedRequestTarget;
}

/** Makes an Ed25519 key, registers its public half once in a run, and remembers to remove it. */
const registered = (kit: Kit): Promise<RegisteredKey> =>
  kit.fixture("signing key", async (own) => {
    const { signedRequests: described, credentials } = own.target;
    if (described === undefined)
      throw new NotOffered("The target file does not say how requests are signed (signed_requests).");
    const { register, remove } = described;
    if (credentials.clientId === undefined && JSON.stringify(register).includes("{client_id}"))
      throw new NotOffered("Keys belong to a client, and the kit was given a token and no client id.");
    const { privateKey, publicKey } = generateKeyPairSync("ed25519");
    const values = {
      client_id: credentials.clientId ?? "",
      public_key: String(publicKey.export({ format: "jwk" }).x),
    };
    const reply = await sendDescribed(own, register, values);
    expect(reply.status < 300, "the signing key to be registered", describeReply(reply));
    const keyId = String(rawAt(reply, described.id) ?? "");
    if (remove !== undefined)
      own.session.leftovers.push({
        what: `signing key ${keyId}`,
        remove: async (its) => {
          const { status } = await sendDescribed(its, remove, { ...values, id: keyId });
          return status < 300 || status === 404 ? undefined : `status ${status}`;
        },
      });
    return { keyId, privateKey, described };
  });

interface SignedCreate {
  readonly signing?: Partial<SigningOptions>;
  /** The body that is sent instead of the one that is signed. */
  readonly alter?: (body: string) => string;
}

/** Creates a transaction with a signed request. */
async function createSigned(kit: Kit, { signing, alter = (body) => body }: SignedCreate = {}) {
  const key = await registered(kit);
  const { asset, amount, fields } = kit.target.transaction;
  const body = JSON.stringify({ reference: kit.newName(), asset, amount, ...fields });
  const idempotencyKey = kit.newKey();
  const headers = signRequest(
    {
      method: "POST",
      url: urlOf(kit.target.baseUrl, "/v1/transactions"),
      headers: [
        ["Authorization", `Bearer ${kit.session.token}`],
        ["Content-Type", "application/json"],
        ["Idempotency-Key", idempotencyKey],
      ],
      body,
    },
    key.described,
    { ...key, ...signing },
  );
  const request: CreateOptions = { key: idempotencyKey, body: alter(body), headers };
  return { first: await kit.create(request), request };
}

function refusedCheck(
  name: string,
  source: string,
  shows: string,
  what: string,
  how: () => SignedCreate,
): Check {
  return profileCheck(
    `rfc9421.request.${name}`,
    profile,
    source,
    shows,
    { needs: [accepted], writes },
    async (kit) => expectRefused((await createSigned(kit, how())).first.reply, what),
  );
}

/** Requests that a client signs. That an unsigned one is accepted is no mistake, because whether a client must sign is open. */
export const signedRequestChecks = [
  profileCheck(
    accepted,
    profile,
    "Contract, section 5, names signed requests; RFC 9421, section 3.1",
    "A request that is signed as documented is accepted.",
    { needs: ["tx.create.admitted"], writes },
    async (kit) => {
      const { reply } = (await kit.fixture("signed request", createSigned)).first;
      expect(
        isAccepted(kit.target, reply),
        "status 202 for a request that is signed as documented",
        describeReply(reply),
      );
    },
  ),
  refusedCheck(
    "wrong-key",
    "RFC 9421, section 3.2",
    "A signature of another key is refused.",
    "a request signed with another key under the same keyid",
    () => ({ signing: { privateKey: generateKeyPairSync("ed25519").privateKey } }),
  ),
  refusedCheck(
    "altered",
    "RFC 9530, section 2",
    "A body that was altered after it was signed is refused.",
    "a body that is not the one whose digest was signed",
    () => ({ alter: (body) => `${body} ` }),
  ),
  refusedCheck(
    "uncovered",
    "RFC 9421, section 7.2.1",
    "A signature that does not cover the digest of the body is refused.",
    "a signature that does not cover Content-Digest",
    () => ({ signing: { without: "content-digest" } }),
  ),
  refusedCheck(
    "expired",
    "RFC 9421, section 2.3",
    "A signature that has expired is refused.",
    "a signature that has expired",
    () => ({ signing: { ageSeconds: hourSeconds } }),
  ),
  profileCheck(
    "rfc9421.request.replayed",
    profile,
    "RFC 9421, section 7.2.2",
    "A signature is accepted once.",
    { needs: [accepted], writes },
    async (kit) => {
      const { request } = await kit.fixture("signed request", createSigned);
      expectRefused((await kit.create(request)).reply, "a signature whose nonce was used before");
    },
  ),
];
