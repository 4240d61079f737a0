import { sql } from "../../../src/store/core/sql.js";
import { chainNetwork } from "../../harness/chain/configured-chain.js";
import { eventually } from "../../harness/eventually.js";
import { runBursar } from "../../harness/service/bursar-process.js";
import type { ProofWorld } from "./proof-world.js";

/** Why the network is halted; undefined if it is not, or the database does not answer now. */
async function readHalt({ database }: ProofWorld): Promise<string | undefined> {
  const rows = await database
    .query<{ reason: string | null }>(sql`SELECT halted_reason AS reason FROM networks`)
    .catch(() => []);
  return rows[0]?.reason ?? undefined;
}

/** What an operator does: looks at the reason, and resumes. Returns the reason. */
export async function resumeIfHalted(world: ProofWorld): Promise<string | undefined> {
  const reason = await readHalt(world);
  if (reason === undefined) return undefined;
  await eventually(
    () => runBursar(["network", "resume", chainNetwork], world.env),
    ({ code }) => code === 0,
  );
  return reason;
}

/**
 * The first node shows one payment of an outsider with a million times its amount, in its block and alone. Nobody else can see that it lies until
 * the block is final, and then the second node is asked: the network must halt instead of crediting it. Returns the reason of the halt.
 */
export async function forgeDeposit(world: ProofWorld, deposit: () => Promise<void>): Promise<string> {
  const addresses = new Set(world.wallets.map(({ address }) => address));
  let forged: string | undefined;
  world.lie((path, calls, text) => {
    if (path !== "/" || !calls.some(({ method }) => showsTransactions(method))) return undefined;
    const answers = JSON.parse(text) as unknown;
    for (const transaction of transactionsIn(answers)) {
      const { hash, to, value } = transaction;
      const isWanted = typeof to === "string" && addresses.has(to) && value !== "0x0";
      if (!isWanted || typeof hash !== "string" || (forged !== undefined && forged !== hash)) continue;
      forged = hash;
      transaction["value"] = `${value}00000`;
    }
    return forged === undefined ? undefined : JSON.stringify(answers);
  });
  const reason = await eventually(
    async () => {
      await deposit();
      return await readHalt(world);
    },
    (halt) => halt !== undefined,
  );
  world.lie(undefined);
  return `${reason}`;
}

const showsTransactions = (method: string) =>
  method.startsWith("eth_getBlockBy") || method === "eth_getTransactionByHash";

function transactionsIn(answers: unknown): Record<string, unknown>[] {
  return [answers].flat().flatMap((answer) => {
    const { result } = (answer ?? {}) as { result?: { transactions?: unknown; value?: unknown } | null };
    if (result?.value !== undefined) return [result as Record<string, unknown>];
    const list = result?.transactions;
    return Array.isArray(list) ? list.filter((one) => typeof one === "object") : [];
  });
}
