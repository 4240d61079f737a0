import { expect, fail, NotOffered, profileCheck } from "../../engine/check.js";
import type { Kit } from "../../engine/kit.js";
import { describeReply } from "../../http/reply.js";
import { type MessageSignature, readSignatures, signatureBase } from "../../signatures/message-signature.js";
import { matchesDigest, verifyMessage } from "../../signatures/verify-message.js";
import type { MessageSignatureTarget } from "../../target/target.js";
import type { Delivery } from "../../webhooks/receiver.js";
import { messageOf } from "../../webhooks/verify-signature.js";
import { createTransaction } from "../scenarios.js";
import { endpoint, readSecret, sendDescribed } from "../webhooks/webhook-endpoint.js";
import { isAbout } from "../webhooks/webhook-names.js";
import { announced } from "../webhooks/webhook-scenarios.js";

const profile = "rfc9421";
const present = "rfc9421.present";
const verifies = "rfc9421.verifies";
const writes = ["transaction", "webhook endpoint"] as const;
const toleranceSeconds = 300;

/** Each notification with its signatures, the target's description and the endpoint. */
async function eachSigned(
  kit: Kit,
  look: (
    signatures: readonly MessageSignature[],
    delivery: Delivery,
    described: MessageSignatureTarget,
  ) => void,
): Promise<void> {
  const { webhooks, receiver } = await endpoint(kit);
  const described = webhooks.messageSignatures;
  if (described === undefined)
    throw new NotOffered(
      "The target file does not describe signatures of RFC 9421 (webhooks.message_signatures).",
    );
  for (const delivery of (await announced(kit)).deliveries)
    look(readSignatures(messageOf(delivery, receiver.url)) ?? [], delivery, described);
}

const some = (signatures: readonly MessageSignature[], show: (one: MessageSignature) => string) =>
  signatures.map(show).join("; ") || "none";

/** Whether a signature can be the one that is meant: proxies can add others, so only those with the tag count. */
const isMeant =
  ({ tag }: MessageSignatureTarget) =>
  (one: MessageSignature) =>
    tag === undefined || one.parameters.get("tag") === tag;

/** Signatures of notifications by HTTP Message Signatures. */
export const messageSignatureChecks = [
  profileCheck(
    present,
    profile,
    "RFC 9421, section 4",
    "A notification has Signature-Input and Signature with the same labels.",
    { needs: ["webhook.signature"], writes },
    async (kit) => {
      await eachSigned(kit, (signatures, { headers }) => {
        const names = headers.map(([name]) => name.toLowerCase()).join(", ");
        expect(
          signatures.length > 0,
          "Signature-Input and Signature as dictionaries with the same labels",
          `the headers ${names}`,
        );
      });
    },
  ),
  profileCheck(
    "rfc9421.tag",
    profile,
    "RFC 9421, section 2.3",
    "A signature has the documented tag, if one is documented.",
    { needs: [present], writes },
    async (kit) => {
      await eachSigned(kit, (signatures, _delivery, described) => {
        expect(
          signatures.some(isMeant(described)),
          `a signature with the tag ${described.tag}`,
          `the tags ${some(signatures, ({ parameters }) => parameters.get("tag") ?? "none")}`,
        );
      });
    },
  ),
  profileCheck(
    "rfc9421.covers",
    profile,
    "RFC 9421, section 2",
    "The signature covers the digest of the body and what else is documented.",
    { needs: ["rfc9421.tag"], writes },
    async (kit) => {
      await eachSigned(kit, (signatures, _delivery, described) => {
        const wanted = [...new Set(["content-digest", ...described.covers])];
        expect(
          signatures
            .filter(isMeant(described))
            .some(({ covered }) => wanted.every((name) => covered.includes(name))),
          `a signature that covers ${wanted.join(", ")}`,
          some(signatures, ({ covered }) => `one that covers ${covered.join(", ")}`),
        );
      });
    },
  ),
  profileCheck(
    "rfc9421.digest",
    profile,
    "RFC 9530, section 2",
    "Content-Digest is the digest of the bytes that arrived.",
    { needs: ["rfc9421.covers"], writes },
    async (kit) => {
      await eachSigned(kit, (_signatures, delivery) => {
        const digest = messageOf(delivery, "http://receiver/").header("content-digest") ?? "none";
        expect(
          matchesDigest(digest, delivery.body) === true,
          "the SHA-256 or SHA-512 of the body as Content-Digest",
          digest,
        );
      });
    },
  ),
  profileCheck(
    "rfc9421.created",
    profile,
    "RFC 9421, section 2.3",
    "The signature says when it was created.",
    { needs: ["rfc9421.covers"], writes },
    async (kit) => {
      await eachSigned(kit, (signatures, { receivedAt }, described) => {
        for (const { parameters } of signatures.filter(isMeant(described))) {
          const created = parameters.get("created") ?? "none";
          const ageSeconds = receivedAt.getTime() / 1000 - Number(created);
          expect(
            Math.abs(ageSeconds) <= toleranceSeconds,
            "created with the time of the attempt in seconds",
            created,
          );
        }
      });
    },
  ),
  profileCheck(
    "rfc9421.keyid",
    profile,
    "RFC 9421, section 2.3",
    "keyid names the key that was shown with the secret.",
    { needs: ["rfc9421.covers"], writes },
    async (kit) => {
      const { keyId } = await endpoint(kit);
      if (keyId === undefined)
        throw new NotOffered(
          "The target file does not say where the id of the key is shown (message_signatures.key_id).",
        );
      await eachSigned(kit, (signatures) => {
        expect(
          signatures.some(({ parameters }) => parameters.get("keyid") === keyId),
          `keyid ${keyId}, which was shown with the secret`,
          some(signatures, ({ parameters }) => parameters.get("keyid") ?? "no keyid"),
        );
      });
    },
  ),
  profileCheck(
    verifies,
    profile,
    "RFC 9421, section 3.2",
    "The signature verifies with the key of the endpoint.",
    { needs: ["rfc9421.digest", "rfc9421.created"], unlessFailed: ["rfc9421.keyid"], writes },
    async (kit) => {
      const { secret = "", receiver } = await endpoint(kit);
      await eachSigned(kit, (signatures, delivery, described) => {
        const message = messageOf(delivery, receiver.url);
        const meant = signatures.filter(isMeant(described));
        if (meant.some((one) => verifyMessage(described, secret, one, message))) return;
        const base = meant[0] && signatureBase(meant[0].covered, meant[0].params, message);
        fail(
          `a signature (${described.algorithm}) of this signature base: ${base ?? "none, because a covered component is missing"}`,
          some(meant, ({ signature }) => signature.toString("base64")),
        );
      });
    },
  ),
  profileCheck(
    "rfc9421.rotation",
    profile,
    "RFC 9421, section 7.3.4: keys are replaced without a gap if both sign for a while.",
    "During a rotation a notification is signed with the old key and with the new one, each under its own keyid.",
    {
      // All that verifies with the first secret alone comes before.
      needs: [verifies, "webhook.retry"],
      unlessFailed: [
        "webhook.retry.signed",
        "webhook.each.later",
        "standard-webhooks.secret",
        "rfc9421.keyid",
      ],
      writes,
    },
    expectBothKeys,
  ),
];

async function expectBothKeys(kit: Kit): Promise<void> {
  const { id, webhooks, receiver, secret, keyId } = await endpoint(kit);
  const { rotate, messageSignatures: described } = webhooks;
  if (rotate === undefined || described === undefined)
    throw new NotOffered("The target file does not say how the secret is replaced (webhooks.rotate).");
  const reply = await sendDescribed(kit, rotate, { id, url: receiver.url });
  expect(reply.status < 300, "the secret to be replaced", describeReply(reply));
  const next = readSecret(kit, webhooks, reply);
  receiver.answerWith(async () => 204);
  const created = await createTransaction(kit);
  const delivery = await kit.watch(kit.target.timing.webhookMs, async () =>
    receiver.deliveries.find((one) => isAbout(kit, one, created)),
  );
  if (delivery !== undefined) kit.attach([delivery]);
  if (delivery === undefined) fail("a notification after the secret was replaced", "none");
  const message = messageOf(delivery, receiver.url);
  const signatures = readSignatures(message) ?? [];
  for (const [name, key] of [
    ["new", next],
    ["old", { secret, keyId }],
  ] as const)
    expect(
      signatures.some(
        (one) =>
          (key.keyId === undefined || one.parameters.get("keyid") === key.keyId) &&
          verifyMessage(described, key.secret ?? "", one, message),
      ),
      `a signature with the ${name} key${key.keyId === undefined ? "" : ` ${key.keyId}`} during the rotation`,
      some(signatures, ({ parameters }) => `one with the keyid ${parameters.get("keyid") ?? "none"}`),
    );
}
