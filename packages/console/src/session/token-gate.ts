import { hasEnded } from "../api/queries";

const firstMs = 5000;
/** Five minutes in all: 5, 10, 20, 40, 80 and 160 seconds after the one before. */
const repetitionsMax = 6;

export interface TokenGate {
  /** Asks for a token, or fails as the last time if the session has ended. */
  ask: <Token>(issue: () => Promise<Token>) => Promise<Token>;
  /** Somebody has logged in. */
  open: () => void;
}

/**
 * What a page reads again and again needs a token, also after the session has ended. It is then asked for more and more seldom, and after
 * some minutes not any more: a tab that somebody has left open over a weekend asks the service for nothing.
 */
export function createTokenGate(monotonicMs: () => number): TokenGate {
  let last: { error: unknown; untilMs: number } | undefined;
  let refusals = 0;
  let openings = 0;
  const open = () => {
    last = undefined;
    refusals = 0;
    openings += 1;
  };
  return {
    ask: async (issue) => {
      if (last !== undefined && monotonicMs() < last.untilMs) throw last.error;
      const opened = openings;
      try {
        const token = await issue();
        open();
        return token;
      } catch (error) {
        // A request that was under way at the login says nothing about the new session.
        if (hasEnded(error) && opened === openings) {
          const pauseMs = refusals < repetitionsMax ? firstMs * 2 ** refusals : Number.POSITIVE_INFINITY;
          last = { error, untilMs: monotonicMs() + pauseMs };
          refusals += 1;
        }
        throw error;
      }
    },
    open,
  };
}
