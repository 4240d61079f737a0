import { expect, it } from "vitest";
import { sql } from "../../../../src/store/core/sql.js";
import { outside } from "../../../harness/chain/driven-chain.js";
import { balanceOf, modelCoin } from "../../../harness/chain/model-chain.js";
import { startRestoredChain } from "../../../harness/chain/start-restored-chain.js";

const { driven, adopted } = await startRestoredChain();
const asset = "USDC.SIM";

it.each([
  { what: "all", taken: 1007n, loss: 1000n },
  { what: "more than was gathered", taken: 10n, loss: 3n },
  { what: "less than was gathered", taken: 2n, loss: 0n },
])(
  "adopts a wallet from which $what was taken: of what is missing, gathered deposits come first",
  async ({ taken, loss }) => {
    const wallet = await driven.createFunded();
    const { address, walletId } = wallet;
    for (const amount of [1000n, 7n]) {
      driven.chain.pay([{ asset, from: outside, to: address, amount }]);
      await driven.settle();
    }
    driven.chain.useNonce(address);
    driven.chain.credit(address, asset, -taken);
    driven.chain.pay([{ asset: modelCoin, from: outside, to: address, amount: 1n }]);
    await adopted.untilHalted(wallet);
    await adopted.untilResumed(wallet);
    await driven.settle();
    expect(await adopted.readWallet(wallet)).toMatchObject({ code: null });
    const onChain = balanceOf(driven.chain.final().balances, address, asset);
    expect(onChain).toBe(1007n - taken);
    const [row] = await driven.database.query<{ available: string; gathered: string }>(sql`
    SELECT a.available, h.gathered FROM ledger_accounts a
    JOIN chain_holdings h ON h.wallet_id = a.account_id AND h.asset = a.asset
    WHERE a.account_id = ${walletId} AND a.asset = ${asset}
  `);
    expect(BigInt(row?.available ?? -1)).toBe(1000n - loss);
    expect(BigInt(row?.available ?? -1) + BigInt(row?.gathered ?? -1)).toBe(onChain);
  },
);
