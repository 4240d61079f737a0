import { type BlockHeader, type ChainNode, NodeUnavailableError } from "../../../app/chain/chain-node.js";

interface Sender {
  readonly address: string;
  readonly nonce: number;
}

export interface NonceBlocks {
  /** The final block after which a nonce is used, and was not before it; undefined if it is not used up to this number. */
  readonly find: (
    sender: Sender,
    at: number,
    beforeQuestion: () => Promise<void>,
  ) => Promise<BlockHeader | undefined>;
  /** What the nodes have said about an address has led to nothing. */
  readonly forget: (address: string) => void;
}

/** For how many addresses, and for how many blocks of each, it is remembered how many transactions there were. */
const addressesMax = 64;
const countsMax = 1000;

/**
 * A search takes up to 100 questions on a long chain, and nodes can fail in between. What they have said about final blocks stays true, so it is
 * remembered: the next search of the address goes on with it, for the same nonce after a failure, or for the next one.
 */
export function createNonceBlocks({ header, noncesAt }: Pick<ChainNode, "header" | "noncesAt">): NonceBlocks {
  /** How many transactions of an address there were after a block, by its number. */
  const known = new Map<string, Map<number, number>>();
  const countsOf = (address: string) => {
    const counts = known.get(address);
    if (counts !== undefined && counts.size < countsMax) return counts;
    known.delete(address);
    const [oldest] = known.keys();
    if (oldest !== undefined && known.size >= addressesMax) known.delete(oldest);
    const none = new Map<number, number>();
    known.set(address, none);
    return none;
  };

  return {
    forget: (address) => void known.delete(address),
    find: async ({ address, nonce }, at, beforeQuestion) => {
      const counts = countsOf(address);
      const headerAt = async (number: number) => {
        await beforeQuestion();
        const found = await header(number);
        if (found === undefined) throw new NodeUnavailableError(`No node has block ${number}.`);
        return found;
      };
      const isUsedAt = async (number: number) => {
        const block = await headerAt(number);
        await beforeQuestion();
        const [count = 0] = await noncesAt([address], block);
        counts.set(number, count);
        return count > nonce;
      };
      const numbers = [...counts.keys()].filter((number) => number <= at);
      const isKnownUsed = (number: number) => (counts.get(number) ?? 0) > nonce;
      let used = Math.min(...numbers.filter(isKnownUsed), Number.POSITIVE_INFINITY);
      if (used > at) {
        if (!(await isUsedAt(at))) return undefined;
        used = at;
      }
      let unused = Math.max(...numbers.filter((number) => number < used && !isKnownUsed(number)), -1);
      // It is most likely one of the last blocks, whose state every node has.
      for (let step = Math.max(1, 2 * (at - used)); unused < 0; step *= 2) {
        const number = Math.max(0, at - step);
        if (number === 0 || !(await isUsedAt(number))) unused = number;
        else used = number;
      }
      while (used - unused > 1) {
        const middle = Math.floor((used + unused) / 2);
        if (await isUsedAt(middle)) used = middle;
        else unused = middle;
      }
      return await headerAt(used);
    },
  };
}
