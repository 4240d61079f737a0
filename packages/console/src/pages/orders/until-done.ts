const everyMs = 200;
/** A market that is halted deals with it later. */
const attemptsMax = 15;

/**
 * Waits until the market has carried out a request about an order, which was only accepted. False if it has not done so soon, or if that
 * is not known. Other changes, such as a trade of a part, do not end the wait.
 */
export async function untilDone<Order>(
  read: () => Promise<Order>,
  isDone: (order: Order) => boolean,
): Promise<boolean> {
  try {
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      if (isDone(await read())) return true;
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
  } catch {
    // The request was accepted all the same.
  }
  return false;
}
