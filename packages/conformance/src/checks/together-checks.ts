import { CheckFailed, contractCheck, fail, NotOffered } from "../engine/check.js";
import type { Kit } from "../engine/kit.js";
import { isServerFailure } from "../http/find-gateway.js";
import { percentEncode } from "../http/percent-encode.js";
import { describeReply } from "../http/reply.js";
import { acceptTransaction } from "./keys/key-scenarios.js";
import { createTransaction, findId, isAccepted, foundCheck as read, showTransaction } from "./scenarios.js";
import { expectOwn } from "./shown-members.js";

/** Requests that arrive together, with which programs mistake one for another that keep what is current in a place of its own. */

/** So many that they overlap also if each takes little time. */
const requests = 8;
const writes = ["transaction"] as const;

export const createTogether = "tx.create.together";

/** Transactions that were requested at once, each with a key and a reference of its own. */
const createdTogether = (kit: Kit) =>
  kit.fixture("transactions requested at once", async (own) => {
    const sent = Array.from({ length: requests }, () => own.create({ isConcurrent: true }));
    const attempts = await Promise.all(sent);
    const failed = attempts.find(({ reply }) => isServerFailure(reply.exchange))?.reply;
    if (failed !== undefined)
      throw new CheckFailed(
        `no failure of the server for any of ${requests} requests at once`,
        describeReply(failed),
        createTogether,
        failed,
      );
    const accepted = attempts.filter(({ reply }) => isAccepted(own.target, reply));
    const [refused] = attempts.filter((one) => !accepted.includes(one));
    // A service may let one request of an account wait for another, so only one that is alone must be accepted.
    if (refused !== undefined) await acceptTransaction(own);
    if (accepted.length < 2)
      throw new NotOffered(
        `Of ${attempts.length} requests at once ${accepted.length} is accepted, and may be: ${refused === undefined ? "none" : describeReply(refused.reply)}.`,
      );
    return accepted.map(({ reply, reference }) => ({ reference, id: findId(own.target, reply)?.id }));
  });

export const togetherChecks = [
  contractCheck(
    createTogether,
    "2.id",
    "Transactions that are requested at once, with different keys and references, have different ids.",
    { needs: ["tx.create.id"], writes },
    async (kit) => {
      const first = new Map<string, string>();
      for (const { id, reference } of await createdTogether(kit)) {
        if (id === undefined) continue;
        const other = first.get(id);
        if (other !== undefined)
          fail(
            "an id of its own for each of several transactions that were requested at once, with different keys and references",
            `the id ${id} for ${other} and for ${reference}`,
          );
        first.set(id, reference);
      }
    },
  ),
  contractCheck(
    "tx.get.together",
    "1.state",
    "GET of several transactions at once shows each its own.",
    { needs: [read, "tx.get.own"], unlessFailed: [createTogether], writes },
    async (kit) => {
      const created = [await createTransaction(kit), await createTransaction(kit)];
      for (const { id } of created) await showTransaction(kit, id);
      const asked = Array.from({ length: requests / 2 }, () => created).flat();
      await Promise.all(
        asked.map(async (one) => {
          const path = `/v1/transactions/${percentEncode(one.id)}`;
          const reply = await kit.send("GET", path, { isConcurrent: true });
          // One of several replicas may be behind the others, and need not show it at once.
          expectOwn(kit, reply.status === 200 ? reply : await showTransaction(kit, one.id), one);
        }),
      );
    },
  ),
];
