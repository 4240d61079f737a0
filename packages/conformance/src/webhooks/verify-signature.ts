import { spawn } from "node:child_process";
import { createHmac, timingSafeEqual } from "node:crypto";
import { readSignatures, type SignedMessage } from "../signatures/message-signature.js";
import { matchesDigest, verifyMessage } from "../signatures/verify-message.js";
import type { MessageSignatureTarget, SignatureScheme } from "../target/target.js";
import { fieldAt, itemAt } from "./delivery-items.js";
import type { Delivery } from "./receiver.js";

const commandTimeoutMs = 5000;

/** How a notification is verified, and with what. */
export interface Verifier {
  readonly scheme: SignatureScheme;
  readonly messageSignatures?: MessageSignatureTarget | undefined;
  readonly secret: string;
  /** The address of the receiver. */
  readonly url: string;
}

/** Verifies a signature over the bytes that arrived. */
export async function verifySignature(
  verifier: Verifier,
  delivery: Delivery,
  body: Buffer = delivery.body,
): Promise<boolean> {
  const { scheme, secret } = verifier;
  switch (scheme.scheme) {
    case "rfc9421":
      return verifyByRfc9421(verifier, delivery, body);
    case "standard-webhooks":
      return verifyHmac(standardScheme, secret, delivery, body);
    case "hmac":
      return verifyHmac(scheme, secret, delivery, body);
    case "command":
      return verifyByCommand(scheme.command, secret, delivery, body);
  }
}

const header = (delivery: Delivery, name: string) =>
  delivery.headers.find(([own]) => own.toLowerCase() === name.toLowerCase())?.[1] ?? "";

/** The request that a notification is, as signatures of RFC 9421 cover it. */
export function messageOf({ method, path, headers }: Delivery, url: string): SignedMessage {
  return {
    method,
    url: new URL(path, url),
    header: (name) => {
      const values = headers.filter(([own]) => own.toLowerCase() === name).map(([, text]) => text.trim());
      return values.length === 0 ? undefined : values.join(", ");
    },
  };
}

function verifyByRfc9421(
  { messageSignatures, secret, url }: Verifier,
  delivery: Delivery,
  body: Buffer,
): boolean {
  if (messageSignatures === undefined) return false;
  const message = messageOf(delivery, url);
  if (matchesDigest(message.header("content-digest") ?? "", body) !== true) return false;
  return (readSignatures(message) ?? []).some(
    (one) => one.covered.includes("content-digest") && verifyMessage(messageSignatures, secret, one, message),
  );
}

export type Hmac = Extract<SignatureScheme, { scheme: "hmac" }>;

/** Standard Webhooks: HMAC-SHA-256 over id, timestamp and body, joined by dots. */
export const standardScheme: Hmac = {
  scheme: "hmac",
  algorithm: "sha256",
  at: "header.webhook-signature",
  prefix: "v1,",
  encoding: "base64",
  content: "{header:webhook-id}.{header:webhook-timestamp}.{body}",
  secretEncoding: "base64",
  secretPrefix: "whsec_",
};

function verifyHmac(scheme: Hmac, secret: string, delivery: Delivery, body: Buffer): boolean {
  const bare = secret.startsWith(scheme.secretPrefix) ? secret.slice(scheme.secretPrefix.length) : secret;
  const key = scheme.secretEncoding === "base64" ? Buffer.from(bare, "base64") : Buffer.from(bare);
  const hmac = createHmac(scheme.algorithm, key);
  // A header of Standard Webhooks that is missing has a check of its own.
  if (scheme !== standardScheme && missingPart(scheme, delivery) !== undefined) return false;
  // The body is hashed as bytes, so it is not put into the string.
  for (const part of scheme.content.split(/(\{body\})/)) {
    if (part === "{body}") hmac.update(body);
    else
      hmac.update(
        part.replace(/\{(header|field):([^}]+)\}/g, (_all, kind: string, name: string) =>
          kind === "header" ? header(delivery, name) : (fieldAt(delivery.json, name) ?? ""),
        ),
      );
  }
  const expected = hmac.digest();
  const given = itemAt(delivery, scheme.at) ?? "";
  // While a secret is replaced, there can be one for each, separated by spaces.
  return [given, ...given.split(" ")].some(
    (one) =>
      one.startsWith(scheme.prefix) &&
      isEqual(Buffer.from(one.slice(scheme.prefix.length), scheme.encoding), expected),
  );
}

/** A part of the signed content that a notification does not have: without it, the signature covers less than is promised. */
export function missingPart({ content }: Hmac, delivery: Delivery): string | undefined {
  for (const [, kind, name = ""] of content.matchAll(/\{(header|field):([^}]+)\}/g)) {
    const place = kind === "header" ? (`header.${name}` as const) : (`body.${name}` as const);
    if (itemAt(delivery, place) === undefined) return `${kind} ${name}`;
  }
  return undefined;
}

function isEqual(given: Buffer, expected: Buffer): boolean {
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** The command gets the notification as JSON, with the body in base64, and the secret in WEBHOOK_SECRET. It exits with 0 if it verifies. */
function verifyByCommand(
  command: readonly string[],
  secret: string,
  delivery: Delivery,
  body: Buffer,
): Promise<boolean> {
  const [program = "", ...args] = command;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      stdio: ["pipe", "ignore", "ignore"],
      env: { ...process.env, WEBHOOK_SECRET: secret },
      timeout: commandTimeoutMs,
    });
    child.on("error", (error) =>
      reject(new Error(`the command that verifies signatures did not start: ${error.message}`)),
    );
    child.on("close", (status) => resolve(status === 0));
    child.stdin.on("error", () => undefined);
    child.stdin.end(JSON.stringify({ headers: delivery.headers, body: body.toString("base64") }));
  });
}
