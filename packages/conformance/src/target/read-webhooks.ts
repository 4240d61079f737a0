import { getHashes } from "node:crypto";
import {
  readChoice,
  readPlace,
  readRequest,
  refuseUnknownNames,
  UsageFault,
  type ValueReader,
} from "./read-values.js";
import type { MessageSignatureTarget, Place, SignatureScheme, WebhookTarget } from "./target.js";

/** How notifications are registered, signed and retried. */
export function readWebhooks(
  reader: ValueReader | undefined,
  secretOf: (name: string) => string,
): WebhookTarget | undefined {
  if (reader === undefined) return undefined;
  const challenge = reader.object("challenge");
  const secretVariable = reader.text("secret_env");
  const names = ["id", "url"];
  const signature = readSignature(reader.object("signature"));
  const webhooks: WebhookTarget = {
    register: readRequest(reader.object("register"), ["url"]),
    id: readPlace(reader, "id") ?? "body.id",
    secretAt: readPlace(reader, "secret"),
    secret: secretVariable === undefined ? undefined : secretOf(secretVariable),
    activate: readRequest(reader.object("activate"), names),
    remove: readRequest(reader.object("remove"), names),
    challenge:
      challenge === undefined
        ? undefined
        : { event: challenge.text("event") ?? "", answer: challenge.text("answer") ?? "" },
    signature,
    items: {
      event: readPlace(reader, "event"),
      delivery_id: readPlace(reader, "delivery_id"),
      signature: signature?.scheme === "hmac" ? signature.at : undefined,
    },
    messageSignatures: readMessageSignatures(reader.object("message_signatures")),
    rotate: readRequest(reader.object("rotate"), names),
    retryScheduleMs: reader.wholes("retry_schedule_ms"),
    transactionId: readPlace(reader, "transaction_id"),
    state: reader.text("state"),
    amount: reader.text("amount"),
    asset: reader.text("asset"),
    reference: reader.text("reference"),
  };
  challenge?.end();
  reader.end();
  return webhooks;
}

function readSignature(reader: ValueReader | undefined): SignatureScheme | undefined {
  if (reader === undefined) return undefined;
  const scheme = reader.text("scheme");
  const read = (): SignatureScheme => {
    if (scheme === "standard-webhooks" || scheme === "rfc9421") return { scheme };
    const command = reader.texts("command");
    if (scheme === "command" && command !== undefined && command.length > 0) return { scheme, command };
    if (scheme !== "hmac")
      throw new UsageFault(
        `${reader.path}.scheme must be hmac, standard-webhooks, rfc9421, or command with a command.`,
      );
    return {
      scheme,
      algorithm: readHash(reader),
      at: readSignaturePlace(reader),
      prefix: reader.text("prefix") ?? "",
      encoding: readChoice(reader, "encoding", ["hex", "base64"]),
      content: readContent(reader),
      secretEncoding: readChoice(reader, "secret_encoding", ["text", "base64"]),
      secretPrefix: reader.text("secret_prefix") ?? "",
    };
  };
  const signature = read();
  reader.end();
  return signature;
}

function readHash(reader: ValueReader): string {
  const name = reader.text("algorithm") ?? "sha256";
  if (getHashes().includes(name.toLowerCase())) return name.toLowerCase();
  throw new UsageFault(
    `${reader.path}.algorithm is ${name}, which is not a known hash; examples are sha256 and sha512.`,
  );
}

function readContent(reader: ValueReader): string {
  const content = reader.text("content") ?? "{body}";
  refuseUnknownNames(`${reader.path}.content`, content, ["body", "header:NAME", "field:PATH"]);
  return content;
}

function readSignaturePlace(reader: ValueReader): Place {
  const header = reader.text("header");
  const field = reader.text("field");
  if (header !== undefined && field !== undefined)
    throw new UsageFault(`${reader.path} names a header and a field; the signature is in one of them.`);
  return field === undefined ? `header.${header ?? "signature"}` : `body.${field}`;
}

function readMessageSignatures(reader: ValueReader | undefined): MessageSignatureTarget | undefined {
  if (reader === undefined) return undefined;
  const signatures: MessageSignatureTarget = {
    algorithm: readChoice(reader, "algorithm", ["hmac-sha256", "ed25519"]),
    secretEncoding: readChoice(reader, "secret_encoding", ["text", "base64"]),
    secretPrefix: reader.text("secret_prefix") ?? "",
    publicKey: reader.text("public_key"),
    keyId: readPlace(reader, "key_id"),
    covers: reader.texts("covers") ?? ["content-digest"],
    tag: reader.text("tag"),
  };
  reader.end();
  return signatures;
}
