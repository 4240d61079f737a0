import type { BlockRef } from "../../../../app/chain/chain-node.js";

/** Which block follows which one, of blocks that were read and that were not followed. */
export interface BranchLinks {
  add: (hash: string, parent: BlockRef) => void;
  /** The first block before this one whose parent is not known, or the first at which it is to end. */
  firstUnread: (start: BlockRef, isEnd: (block: BlockRef) => boolean) => BlockRef;
  /** The first blocks from this one on, and the last one, each with its parent, unless they were returned before. */
  unverified: (start: BlockRef) => readonly { readonly hash: string; readonly parentHash: string }[];
  forget: (hash: string) => void;
}

/** More blocks than are walked back in several steps. */
const linksMax = 4096;
/** A node can have named the wrong parent. Its block is read again after this time, perhaps from another node. */
const rememberedMs = 60_000;
/** How many of a walk are verified at once. */
const unverifiedMax = 16;

/**
 * A walk back from a head that turns out to be of another branch than the final block reads hundreds of blocks for nothing. If a node is always
 * ahead on such a branch, its blocks are not read again in each step: the next walk begins where the last one has ended.
 */
export function createBranchLinks(monotonicMs: () => number): BranchLinks {
  /** By the hash of the later block, the oldest first. */
  const links = new Map<string, { parent: BlockRef; readMs: number; isVerified: boolean }>();

  function forgetOld(): void {
    for (const [hash, { readMs }] of links) {
      if (links.size <= linksMax && monotonicMs() - readMs < rememberedMs) return;
      links.delete(hash);
    }
  }

  return {
    add: (hash, parent) => {
      links.delete(hash);
      links.set(hash, { parent, readMs: monotonicMs(), isVerified: false });
      forgetOld();
    },
    forget: (hash) => void links.delete(hash),
    unverified: (start) => {
      const found: { hash: string; parentHash: string }[] = [];
      let block = start;
      for (;;) {
        const link = links.get(block.hash);
        if (link?.parent.number !== block.number - 1) break;
        if (!link.isVerified) {
          if (found.length === unverifiedMax) found.pop();
          found.push({ hash: block.hash, parentHash: link.parent.hash });
        }
        block = link.parent;
      }
      for (const { hash } of found) Object.assign(links.get(hash) ?? {}, { isVerified: true });
      return found;
    },
    firstUnread: (start, isEnd) => {
      forgetOld();
      let block = start;
      while (!isEnd(block)) {
        const link = links.get(block.hash);
        // Links are what single nodes have said. The numbers only descend, so that blocks which name each other as parents end the walk.
        if (link?.parent.number !== block.number - 1) break;
        block = link.parent;
      }
      return block;
    },
  };
}
