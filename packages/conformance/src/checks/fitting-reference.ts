import type { Kit } from "../engine/kit.js";
import { isRefusal, type Reply } from "../http/reply.js";
import { isAboutInput } from "./fitting-key.js";

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
