import { describe, expect, it } from "vitest";
import { NodeUnavailableError } from "../../../app/chain/chain-node.js";
import { createNonceBlocks } from "./find-nonce-block.js";

const address = `0x${"a".repeat(40)}`;
const head = 20_000_000;

/** The nodes of a long chain: the transaction with nonce n of the address is in the nth of these blocks. */
function openNodes(usedIn: readonly number[]) {
  const asked: number[] = [];
  /** How many more questions are answered. */
  const nodes = { asked, answers: Number.POSITIVE_INFINITY };
  const reach = () => {
    if (nodes.answers === 0) throw new NodeUnavailableError("Nobody answers.");
    nodes.answers -= 1;
  };
  const blocks = createNonceBlocks({
    header: async (number) => {
      reach();
      const hash = `0x${number}`;
      return { number, hash, parentHash: "", timeMs: 0, baseFee: 0n };
    },
    noncesAt: async (_, { number }) => {
      reach();
      asked.push(number);
      return [usedIn.filter((block) => block <= number).length];
    },
  });
  return { blocks, nodes };
}
const nothing = async () => undefined;

describe("the search for the block that has used a nonce", () => {
  it("finds every block, whatever was searched before, and undefined for what is not used", async () => {
    const usedIn = [1, 2, 500, 501, head - 129, head - 128, head - 1, head];
    const { blocks } = openNodes(usedIn);
    for (const nonce of [3, 0, 7, 1, 6, 2, 5, 4, 3]) {
      expect((await blocks.find({ address, nonce }, head, nothing))?.number).toBe(usedIn[nonce]);
      expect((await openNodes(usedIn).blocks.find({ address, nonce }, head, nothing))?.number).toBe(
        usedIn[nonce],
      );
    }
    expect(await blocks.find({ address, nonce: 8 }, head, nothing)).toBeUndefined();
    expect((await blocks.find({ address, nonce: 5 }, head - 2, nothing))?.number).toBe(head - 128);
    expect(await blocks.find({ address, nonce: 6 }, head - 2, nothing)).toBeUndefined();
  });

  it("lets its caller act before every question, and ends with the caller's error", async () => {
    const { blocks, nodes } = openNodes([12_345_678]);
    let turns = 0;
    nodes.answers = 0;
    await blocks.find({ address, nonce: 0 }, head, async () => {
      turns += 1;
      nodes.answers = 1;
    });
    expect(turns).toBe(2 * nodes.asked.length + 1);
    expect(turns).toBeGreaterThan(40);
    const lost = async () => Promise.reject(new Error("the lease is lost"));
    blocks.forget(address);
    await expect(blocks.find({ address, nonce: 0 }, head, lost)).rejects.toThrow("the lease is lost");
  });

  it("goes on after a failure of the nodes with what they have said before", async () => {
    const { blocks, nodes } = openNodes([12_345_678]);
    const attempt = () => blocks.find({ address, nonce: 0 }, head, nothing).catch(() => undefined);
    for (let failures = 0; failures < 20; failures++) {
      nodes.answers = 7;
      const found = await attempt();
      if (found === undefined) continue;
      expect(found.number).toBe(12_345_678);
      expect(new Set(nodes.asked).size).toBe(nodes.asked.length);
      return;
    }
    throw new Error("the search does not come to an end");
  });

  it("shares what it knows among the nonces of an address, until that has led to nothing", async () => {
    const { blocks, nodes } = openNodes([12_345_678, 12_345_679]);
    await blocks.find({ address, nonce: 0 }, head, nothing);
    const first = nodes.asked.length;
    await blocks.find({ address, nonce: 1 }, head, nothing);
    expect(nodes.asked.length - first).toBeLessThan(5);
    blocks.forget(address);
    await blocks.find({ address, nonce: 1 }, head, nothing);
    expect(nodes.asked.length).toBeGreaterThan(2 * first - 5);
  });
});
