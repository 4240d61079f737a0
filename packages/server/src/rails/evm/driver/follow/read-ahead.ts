import type { BlockRef, ChainBlock } from "../../../../app/chain/chain-node.js";
import { type DriverContext, type FollowedChain, isFollowed, tipOf, watchOf } from "../driver-context.js";

/** How many blocks are read at once. A node is asked for four at a time. */
const readAheadMax = 8;

export interface ReadAhead {
  /** Undefined if no node has it. */
  read: (block: BlockRef) => Promise<ChainBlock | undefined>;
  /** Whether the block was asked for. */
  isRead: (block: BlockRef) => boolean;
}

/**
 * Reads blocks for a walk back, with those below each that are likely to be its ancestors. Which these are is known only when the later one was
 * read. So one node names the blocks between it and the last one that was followed: if it names others, they were read for nothing. Nodes that need
 * 3 s for each answer fell behind a chain with a block in 12 s, when one block was read after the other.
 */
export function createReadAhead(context: DriverContext, chain: FollowedChain): ReadAhead {
  const reading = new Map<string, Promise<ChainBlock | undefined>>();

  function begin({ hash, number }: BlockRef): Promise<ChainBlock | undefined> {
    const block = context.node.block(hash, watchOf(context), number);
    // One that the walk does not come to fails nothing.
    block.catch(() => undefined);
    reading.set(hash, block);
    return block;
  }

  async function beginBelow({ number }: BlockRef): Promise<void> {
    const first = Math.max(tipOf(chain).number + 1, number - readAheadMax + 1);
    if (first >= number) return;
    const numbers = Array.from({ length: number - first }, (_, index) => first + index);
    const headers = await context.node.headers(numbers).catch(() => []);
    const isKnown = (header: BlockRef) =>
      reading.has(header.hash) ||
      isFollowed(chain, header) ||
      chain.links.firstUnread(header, () => false) !== header;
    for (const header of headers.toReversed()) if (!isKnown(header)) void begin(header);
  }

  return {
    isRead: ({ hash }) => reading.has(hash),
    read: async (block) => {
      const begun = reading.get(block.hash);
      if (begun !== undefined) return await begun;
      const [read] = await Promise.all([begin(block), beginBelow(block)]);
      return read;
    },
  };
}
