import { readPlace, readRequest, UsageFault, type ValueReader } from "./read-values.js";
import type { MessageSignatureTarget, Place, SignatureScheme, WebhookTarget } from "./target.js";

/** How notifications are registered, signed and retried. */
export function readWebhooks(
  reader: ValueReader | undefined,
  secretOf: (name: string) => string,
): WebhookTarget | undefined {
  if (reader === undefined) return undefined;
  const challenge = reader.object("challenge");
  const secretVariable = reader.text("secret_env");
  const webhooks: WebhookTarget = {
    register: readRequest(reader.object("register")),
    id: readPlace(reader, "id") ?? "body.id",
    secretAt: readPlace(reader, "secret"),
    secret: secretVariable === undefined ? undefined : secretOf(secretVariable),
    activate: readRequest(reader.object("activate")),
    remove: readRequest(reader.object("remove")),
    challenge:
      challenge === undefined
        ? undefined
        : { event: challenge.text("event") ?? "", answer: challenge.text("answer") ?? "" },
    signature: readSignature(reader.object("signature")),
    messageSignatures: readMessageSignatures(reader.object("message_signatures")),
    rotate: readRequest(reader.object("rotate")),
    retryScheduleMs: reader.wholes("retry_schedule_ms"),
    transactionId: readPlace(reader, "transaction_id"),
    state: reader.text("state"),
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
      algorithm: reader.text("algorithm") ?? "sha256",
      at: readSignaturePlace(reader),
      prefix: reader.text("prefix") ?? "",
      encoding: reader.text("encoding") === "base64" ? "base64" : "hex",
      content: reader.text("content") ?? "{body}",
      secretEncoding: reader.text("secret_encoding") === "base64" ? "base64" : "text",
      secretPrefix: reader.text("secret_prefix") ?? "",
    };
  };
  const signature = read();
  reader.end();
  return signature;
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
  const algorithm = reader.text("algorithm") ?? "hmac-sha256";
  if (algorithm !== "hmac-sha256" && algorithm !== "ed25519")
    throw new UsageFault(`${reader.path}.algorithm must be hmac-sha256 or ed25519.`);
  const signatures: MessageSignatureTarget = {
    algorithm,
    secretEncoding: reader.text("secret_encoding") === "base64" ? "base64" : "text",
    secretPrefix: reader.text("secret_prefix") ?? "",
    publicKey: reader.text("public_key"),
    keyId: readPlace(reader, "key_id"),
    covers: reader.texts("covers") ?? ["content-digest"],
    tag: reader.text("tag"),
  };
  reader.end();
  return signatures;
}
