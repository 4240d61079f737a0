import type { Rails } from "../rails/rail.js";
import type { ClaimedPayment, SettlementUnit } from "./settlement.js";

/**
 * The source wallets, by their ids, whose payments must not end, because some may have been made that the books have forgotten. Payments on the
 * book cost no statement.
 */
export async function listBehind(
  unit: Pick<SettlementUnit, "listBehindChain">,
  rails: Pick<Rails, "get">,
  payments: readonly Pick<ClaimedPayment, "tenantId" | "network" | "sourceAccountId">[],
): Promise<ReadonlySet<string>> {
  const wallets = new Map(
    payments
      .filter(({ network }) => rails.get(network).firstEvent === "begin")
      .map(({ tenantId, sourceAccountId: walletId }) => [walletId, { tenantId, walletId }]),
  );
  return wallets.size === 0 ? noWallets : await unit.listBehindChain([...wallets.values()]);
}

const noWallets: ReadonlySet<string> = new Set();
