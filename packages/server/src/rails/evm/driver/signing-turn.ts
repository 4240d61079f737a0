/**
 * Where the next step goes on with what waits for a signature, in the order of the ids. What the signer refuses for good must not keep others from
 * their turn, so a round goes from page to page. While a page or more of new payments comes in each step, a round does not end: every second step
 * looks at what is before its position, such as cancellations and higher fees of earlier payments.
 */
export interface SigningTurn {
  /** The last payment of a page that was full; undefined at the beginning of a round. */
  afterId: string | undefined;
  /** The same for what is before that payment. */
  earlierAfterId: string | undefined;
  /** Whether the next page is of what is before it. */
  isEarlier: boolean;
  /** How many rounds have ended: under full load none does. */
  rounds: number;
  /** How often what is before the position was looked at to its end. */
  earlierRounds: number;
}

export function createSigningTurn(): SigningTurn {
  return { afterId: undefined, earlierAfterId: undefined, isEarlier: false, rounds: 0, earlierRounds: 0 };
}

/** The payment behind which the next page begins. */
export function pageAfter({ isEarlier, earlierAfterId, afterId }: SigningTurn): string | undefined {
  return isEarlier ? earlierAfterId : afterId;
}

/** How often the next page was looked at before. A page that both orders look at would have only every second number of a common count. */
export function lookOf({ isEarlier, rounds, earlierRounds }: SigningTurn): number {
  return isEarlier ? earlierRounds : rounds;
}

/** Takes the page into account. Returns whether the round goes on: it ends with a page that is not full. */
export function turnPage(turn: SigningTurn, ids: readonly string[], isFull: boolean): boolean {
  if (!isFull) {
    const { rounds, earlierRounds } = turn;
    Object.assign(turn, { ...createSigningTurn(), rounds: rounds + 1, earlierRounds });
    return false;
  }
  const lastId = ids.reduce((one, other) => (one > other ? one : other));
  const isBehind = turn.afterId !== undefined && lastId < turn.afterId;
  // A page of what is before the position that goes beyond it has all that is in between.
  if (!isBehind) turn.afterId = lastId;
  if (turn.isEarlier) {
    turn.earlierAfterId = isBehind ? lastId : undefined;
    if (!isBehind) turn.earlierRounds += 1;
  }
  turn.isEarlier = !turn.isEarlier;
  return true;
}
