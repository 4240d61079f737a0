import { createHash, type KeyObject, randomBytes, sign } from "node:crypto";
import { NotOffered } from "../engine/check.js";
import type { SignedRequestTarget } from "../target/target.js";
import { type SignedMessage, signatureBase } from "./message-signature.js";

export interface RequestToSign {
  readonly method: string;
  readonly url: URL;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

export interface SigningOptions {
  readonly keyId: string;
  readonly privateKey: KeyObject;
  readonly lifetimeSeconds?: number;
  /** Seconds by which the signature is older than now. */
  readonly ageSeconds?: number;
  /** A component that is left out. */
  readonly without?: string;
}

const usualLifetimeSeconds = 60;

/** The headers that sign a request with Ed25519, as the target file says. */
export function signRequest(
  request: RequestToSign,
  { covers, tag }: SignedRequestTarget,
  options: SigningOptions,
): [string, string][] {
  const digest = `sha-256=:${createHash("sha256").update(request.body).digest("base64")}:`;
  const headers = [...request.headers, ["Content-Digest", digest] as const];
  const message: SignedMessage = {
    method: request.method,
    url: request.url,
    header: (name) => headers.find(([own]) => own.toLowerCase() === name)?.[1],
  };
  const covered = covers.filter((name) => name !== options.without);
  const created = Math.floor(Date.now() / 1000) - (options.ageSeconds ?? 0);
  const params = [
    `(${covered.map((name) => `"${name}"`).join(" ")})`,
    `created=${created}`,
    `expires=${created + (options.lifetimeSeconds ?? usualLifetimeSeconds)}`,
    `nonce="${randomBytes(18).toString("base64url")}"`,
    `keyid="${options.keyId}"`,
    ...(tag === undefined ? [] : [`tag="${tag}"`]),
  ].join(";");
  const base = signatureBase(covered, params, message);
  if (base === undefined)
    throw new NotOffered(`A request lacks a component of signed_requests.covers: ${covered.join(", ")}.`);
  const signature = sign(null, Buffer.from(base), options.privateKey).toString("base64");
  return [
    ["Content-Digest", digest],
    ["Signature-Input", `sig1=${params}`],
    ["Signature", `sig1=:${signature}:`],
  ];
}
