import { contractCheck, expect, fail } from "../engine/check.js";
import type { Kit } from "../engine/kit.js";
import { acceptTransaction } from "./key-scenarios.js";
import { createTransaction, foundCheck as read, showTransaction } from "./scenarios.js";
import { expectOwn } from "./shown-members.js";

/** Requests that arrive together, with which programs mistake one for another that keep what is current in a place of its own. */

/** So many that they overlap also if each takes little time. */
const requests = 8;
const writes = ["transaction"] as const;

export const createTogether = "tx.create.together";

/** Transactions that were requested at once, each with a key and a reference of its own. */
const createdTogether = (kit: Kit) =>
  kit.fixture("transactions requested at once", (own) =>
    Promise.all(Array.from({ length: requests / 2 }, () => acceptTransaction(own, { isConcurrent: true }))),
  );

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
          const path = `/v1/transactions/${encodeURIComponent(one.id)}`;
          const reply = await kit.send("GET", path, { isConcurrent: true });
          const wanted = `status 200 from each of ${requests} requests at once for ${created.length} transactions`;
          expect(reply.status === 200, wanted, `status ${reply.status}`, reply);
          expectOwn(kit, reply, one);
        }),
      );
    },
  ),
];
