import { readSignatures } from "../signatures/message-signature.js";
import { matchesDigest } from "../signatures/verify-message.js";
import { itemAt } from "./delivery-items.js";
import type { Delivery } from "./receiver.js";
import {
  type Hmac,
  messageOf,
  missingPart,
  runCommand,
  signaturesIn,
  standardScheme,
  type Verifier,
  verifySignature,
} from "./verify-signature.js";

/** Why a signature does not verify, in words that name the mistake as far as it can be found by trying. */
export async function explainInvalid(verifier: Verifier, delivery: Delivery): Promise<string> {
  const { scheme } = verifier;
  if (scheme.scheme === "rfc9421") return explainMessage(verifier, delivery);
  if (await verifiesSerialised(verifier, delivery))
    return "a signature of the body parsed and serialised again, not of the bytes that were sent";
  if (scheme.scheme === "command") {
    const { status, stderr } = await runCommand(scheme.command, verifier.secret, delivery, delivery.body);
    const wrote = stderr.trim() === "" ? "wrote nothing to stderr" : `wrote ${stderr.trim()}`;
    return `a signature that the command of the target file does not accept: it exited with ${status} and ${wrote}`;
  }
  const hmac = scheme.scheme === "hmac" ? scheme : standardScheme;
  return (
    explainForm(hmac, delivery) ??
    (await explainByTrying(verifier, hmac, delivery)) ??
    "a signature of other content, or with another key than the endpoint's secret: no usual hash, encoding or content makes it verify"
  );
}

async function verifiesSerialised(verifier: Verifier, delivery: Delivery): Promise<boolean> {
  if (delivery.json === undefined) return false;
  for (const text of serialisations(delivery.json)) {
    const again = Buffer.from(text);
    if (!again.equals(delivery.decoded) && (await verifySignature(verifier, delivery, again))) return true;
  }
  return false;
}

/** JSON as the libraries of several languages write it by default: compact or with spaces, with escapes or without. */
function serialisations(json: unknown): string[] {
  const compact = JSON.stringify(json);
  const spaced = JSON.stringify(json, null, 1).replace(/\n */g, (_, at: number, all: string) =>
    all[at - 1] === "," ? " " : "",
  );
  const toAscii = (text: string) =>
    text.replace(/[^ -~]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return [compact, spaced].flatMap((text) => [text, toAscii(text), toAscii(text).replaceAll("/", "\\/")]);
}

/** What can be seen without a secret: the signature is not there, or does not look as described. */
function explainForm(scheme: Hmac, delivery: Delivery): string | undefined {
  const at = scheme.at.replace(/^body\./, "the field ").replace(/^header\./, "the header ");
  const given = itemAt(delivery, scheme.at);
  if (given === undefined) return `no signature in ${at}, where it should be`;
  const missing = missingPart(scheme, delivery);
  if (missing !== undefined) return `no ${missing}, which is a part of the signed content`;
  if (signaturesIn(scheme, delivery).length === 0)
    return `a signature without ${scheme.prefix} before it, in ${at}: ${given.slice(0, 100)}`;
  return undefined;
}

const hashes = ["sha1", "sha256", "sha384", "sha512"];

/** Tries the usual mistakes, first those that are alone. */
async function explainByTrying(
  verifier: Verifier,
  scheme: Hmac,
  delivery: Delivery,
): Promise<string | undefined> {
  const { algorithm, content, secretEncoding, encoding } = scheme;
  const otherSecret = secretEncoding === "text" ? "base64" : "text";
  const otherEncoding = encoding === "hex" ? "base64" : "hex";
  type Change = readonly [words: string, change: Partial<Hmac>];
  const groups: readonly (readonly Change[])[] = [
    hashes
      .filter((hash) => hash !== algorithm)
      .map((hash) => [`with the hash ${hash} instead of ${algorithm}`, { algorithm: hash }]),
    contentMistakes(content),
    [
      ["of the body as Latin-1 instead of the bytes that were sent", { isLatin1: true }],
      ["of which only the beginning was sent", { isCut: true }],
    ],
    [
      [
        otherSecret === "text"
          ? "with the secret as text instead of the bytes that its base64 stands for"
          : "with the bytes that the secret's base64 stands for instead of the secret as text",
        { secretEncoding: otherSecret },
      ],
      ["with the secret including its prefix", { secretPrefix: "", secretEncoding: "text" }],
    ],
    [[`written in ${otherEncoding} instead of ${encoding}`, { encoding: otherEncoding }]],
  ];
  const combinations: Change[][] = [[]];
  for (const group of groups)
    for (const each of [...combinations]) for (const change of group) combinations.push([...each, change]);
  combinations.sort((one, other) => one.length - other.length);
  for (const changes of combinations.slice(1)) {
    const changed: Hmac = Object.assign({ ...scheme }, ...changes.map(([, change]) => change));
    if (await verifySignature({ ...verifier, scheme: changed }, delivery))
      return `a signature ${changes.map(([words]) => words).join(", ")}`;
  }
  return undefined;
}

/** Other contents that are easily signed by mistake: less than all of it, down to nothing. */
function contentMistakes(content: string): (readonly [words: string, change: Partial<Hmac>])[] {
  const rest = content.replace("{body}", "").replace(/^[^{]+|[^}]+$/g, "");
  const parts = (content.match(/\{[^}]+\}/g) ?? []).filter((part) => part !== "{body}" && part !== content);
  return [
    ...(content === "{body}"
      ? []
      : [[`of the body alone instead of ${content}`, { content: "{body}" }] as const]),
    ...(rest === "" || rest === content ? [] : [[`of ${rest} without the body`, { content: rest }] as const]),
    ...parts.map((part) => [`of ${part} alone instead of ${content}`, { content: part }] as const),
    [`of nothing instead of ${content}`, { content: "" }],
  ];
}

function explainMessage({ messageSignatures, url }: Verifier, delivery: Delivery): string {
  if (messageSignatures === undefined)
    return "no webhooks.message_signatures in the target file, which the scheme rfc9421 needs";
  const message = messageOf(delivery, url);
  const signatures = readSignatures(message) ?? [];
  if (signatures.length === 0) return "no signature in the headers Signature-Input and Signature";
  if (matchesDigest(message.header("content-digest") ?? "", delivery.body) !== true)
    return "a Content-Digest that is not of the bytes that were sent";
  if (!signatures.some(({ covered }) => covered.includes("content-digest")))
    return "a signature that does not cover Content-Digest";
  return "a signature of other components, or with another key than the endpoint's";
}
