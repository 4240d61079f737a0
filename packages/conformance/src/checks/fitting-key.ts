import type { Kit } from "../engine/kit.js";
import { isRefusal, type Reply } from "../http/reply.js";

/** Shorter than a UUID, the longest first. */
const lengths = [32, 16, 8] as const;
/** Refusals that are not about the key. */
const aboutOthers = [401, 403, 404, 405, 415, 429];

/** Whether a refusal can be about what was sent. */
export const isAboutInput = (reply: Reply) =>
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
