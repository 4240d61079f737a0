import { spawn } from "node:child_process";
import { createHmac, timingSafeEqual } from "node:crypto";
import { Undecided } from "../engine/check.js";
import { readSignatures, type SignedMessage } from "../signatures/message-signature.js";
import { matchesDigest, verifyMessage } from "../signatures/verify-message.js";
import type { MessageSignatureTarget, SignatureScheme } from "../target/target.js";
import { fieldAt, itemAt } from "./delivery-items.js";
import type { Delivery } from "./receiver.js";

/** A command can be a program that starts slowly; target-file.md names the limit. */
const commandTimeoutMs = 30_000;
const stderrMax = 500;

/** How a notification is verified, and with what. */
export interface Verifier {
  readonly scheme: SignatureScheme;
  readonly messageSignatures?: MessageSignatureTarget | undefined;
  readonly secret: string;
  /** The address of the receiver. */
  readonly url: string;
}

/** Verifies a signature over the bytes that arrived, or over what they are without their content coding: which of them is open. */
export async function verifySignature(
  verifier: Verifier,
  delivery: Delivery,
  body?: Buffer,
): Promise<boolean> {
  if (body !== undefined) return verifyBody(verifier, delivery, body);
  if (await verifyBody(verifier, delivery, delivery.body)) return true;
  return delivery.decoded !== delivery.body && verifyBody(verifier, delivery, delivery.decoded);
}

async function verifyBody(verifier: Verifier, delivery: Delivery, body: Buffer): Promise<boolean> {
  const { scheme, secret } = verifier;
  switch (scheme.scheme) {
    case "rfc9421":
      return verifyByRfc9421(verifier, delivery, body);
    case "standard-webhooks":
      return verifyHmac(standardScheme, secret, delivery, body);
    case "hmac":
      return verifyHmac(scheme, secret, delivery, body);
    case "command":
      return (await runCommand(scheme.command, secret, delivery, body)).status === 0;
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

/** As a target file describes it, or with a mistake that is tried. */
export type Hmac = Extract<SignatureScheme, { scheme: "hmac" }> & {
  readonly isLatin1?: boolean;
  /** Only the beginning of the signature is sent. */
  readonly isCut?: boolean;
};

/** Fewer could be equal by chance. */
const cutBytesMin = 8;

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
  // A header of Standard Webhooks that is missing has a check of its own.
  if (scheme !== standardScheme && missingPart(scheme, delivery) !== undefined) return false;
  // A sender can write UTF-8 into a header, or one byte for each character, and sign the text in UTF-8.
  const readings = /[\x80-\xff]/.test(delivery.headers.join()) ? [header, utf8Header] : [header];
  const digests = readings.map((read) => digestOf(scheme, key, delivery, body, read));
  return signaturesIn(scheme, delivery).some((one) => {
    const bytes = Buffer.from(one.slice(scheme.prefix.length), scheme.encoding);
    const isCut = scheme.isCut === true && bytes.length >= cutBytesMin;
    return digests.some((digest) => isEqual(bytes, isCut ? digest.subarray(0, bytes.length) : digest));
  });
}

const utf8Header = (delivery: Delivery, name: string) =>
  Buffer.from(header(delivery, name), "latin1").toString("utf8");

function digestOf(scheme: Hmac, key: Buffer, delivery: Delivery, body: Buffer, read: typeof header): Buffer {
  const hmac = createHmac(scheme.algorithm, key);
  // The body is hashed as bytes, so it is not put into the string.
  for (const part of scheme.content.split(/(\{body\})/)) {
    if (part === "{body}")
      hmac.update(scheme.isLatin1 === true ? Buffer.from(body.toString("utf8"), "latin1") : body);
    else
      hmac.update(
        part.replace(/\{(header|field):([^}]+)\}/g, (_all, kind: string, name: string) =>
          kind === "header" ? read(delivery, name) : (fieldAt(delivery.json, name) ?? ""),
        ),
      );
  }
  return hmac.digest();
}

/**
 * While a secret is replaced, there can be a signature for each: separated by spaces, commas or semicolons, or in headers of the same name. A
 * prefix can have a comma itself.
 */
export function signaturesIn({ at, prefix }: Hmac, delivery: Delivery): string[] {
  const name = at.slice("header.".length).toLowerCase();
  const given = at.startsWith("header.")
    ? delivery.headers.flatMap(([own, value]) => (own.toLowerCase() === name ? [value] : []))
    : [itemAt(delivery, at) ?? ""];
  const all = given.flatMap((value) => [value, ...value.split(/\s+/), ...value.split(/[\s,;]+/)]);
  return all.filter((one) => one !== "" && one.startsWith(prefix));
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

export interface EndedCommand {
  readonly status: number | null;
  /** The beginning of what it wrote to its standard error. */
  readonly stderr: string;
}

/**
 * The command gets the notification as JSON, with the body in base64, and the secret in WEBHOOK_SECRET. It exits with 0 if it verifies. One
 * that does not start or does not end says nothing about the target.
 */
export function runCommand(
  command: readonly string[],
  secret: string,
  delivery: Delivery,
  body: Buffer,
  timeoutMs = commandTimeoutMs,
): Promise<EndedCommand> {
  const [program = "", ...args] = command;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      stdio: ["pipe", "ignore", "pipe"],
      env: { ...process.env, WEBHOOK_SECRET: secret },
    });
    let isLate = false;
    // Its standard error is closed as well, because a process that it has started can hold that open.
    const timer = setTimeout(() => {
      isLate = true;
      child.kill("SIGKILL");
      child.stderr.destroy();
    }, timeoutMs);
    let stderr = "";
    child.stderr.on("data", (chunk: Buffer) => {
      stderr = (stderr + chunk.toString("utf8")).slice(0, stderrMax);
    });
    const refuse = (what: string) =>
      reject(new Undecided(`The command of webhooks.signature of the target file, ${program}, ${what}.`));
    child.on("error", (error) => {
      clearTimeout(timer);
      refuse(`did not start: ${error.message}`);
    });
    child.on("close", (status, signal) => {
      clearTimeout(timer);
      if (signal === null) resolve({ status, stderr });
      else if (isLate) refuse(`did not end within ${timeoutMs / 1000} s`);
      else refuse(`was ended by ${signal}`);
    });
    child.stdin.on("error", () => undefined);
    child.stdin.end(JSON.stringify({ headers: delivery.headers, body: body.toString("base64") }));
  });
}
