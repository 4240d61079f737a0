import { hasUnknownOutcome } from "../ui/forms/fault-of";

/** Reads what is about to be changed once more. If that has no answer, the change was not sent, and its outcome is known. */
export async function readBeforeChange<Found>(read: () => Promise<Found>): Promise<Found> {
  try {
    return await read();
  } catch (cause) {
    if (!hasUnknownOutcome(cause)) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`Nothing was changed, because it could not be read again before. ${reason}`, { cause });
  }
}
