import type { Kit } from "../engine/kit.js";
import { isRefusal, type Reply } from "../http/reply.js";

/** Shorter than a UUID, the longest first. */
const lengths = [32, 16, 8] as const;
/** Refusals that are not about the key. */
const aboutOthers = [401, 403, 404, 405, 415, 429];

/** Whether a refusal can be about what was sent. */
const isAboutInput = (reply: Reply) =>
  isRefusal(reply) && reply.status < 500 && !aboutOthers.includes(reply.status);

/**
 * Sends a request with a UUID as its key. The length of keys is open, so if it is refused, shorter keys are tried once in a run, and the one
 * that is accepted is the length of all further keys.
 */
export async function withFittingKey<T>(
  kit: Kit,
  send: (key: string) => Promise<T>,
  replyOf: (sent: T) => Reply,
): Promise<T> {
  const { session } = kit;
  const first = await send(kit.newKey());
  if (!isAboutInput(replyOf(first)) || session.keyLength !== undefined) return first;
  for (const length of lengths) {
    const next = await send(kit.newKey(length));
    if (isRefusal(replyOf(next))) continue;
    session.keyLength = length;
    kit.warn(
      `An Idempotency-Key of 36 characters is refused, and one of ${length} is accepted, so all keys of the run have ${length}. State the longest in key_length of the target file.`,
    );
    return next;
  }
  return first;
}

/** Forms of references that services restrict theirs to, the freest first. */
const forms = [
  { characters: "alphanumeric" },
  { characters: "alphanumeric", maxLength: 16 },
  { characters: "digits", maxLength: 12 },
] as const;

/**
 * Sends a request with the usual reference. Its form is open, so if it is refused, others are tried once in a run, and the one that is
 * accepted is the form of all further references.
 */
export async function withFittingReference<T>(
  kit: Kit,
  send: () => Promise<T>,
  replyOf: (sent: T) => Reply,
): Promise<T> {
  const { session } = kit;
  const usual = session.reference;
  const first = await send();
  if (!isAboutInput(replyOf(first)) || Object.keys(usual).length > 0) return first;
  for (const form of forms) {
    session.reference = form;
    const next = await send();
    if (isRefusal(replyOf(next))) continue;
    const { characters, maxLength } = { maxLength: undefined, ...form };
    const length = maxLength === undefined ? "" : ` of at most ${maxLength} characters`;
    kit.warn(
      `References such as conformance-1 are refused, and ${characters} ones${length} are accepted, so all references of the run have this form. State it in reference of the target file.`,
    );
    return next;
  }
  session.reference = usual;
  return first;
}
