import { compare, fromUnits, type Network, toUnits, type Wallet } from "@bursar/client";
import { Amount } from "../../ui/values/amount";

const decimalsMax = 18;

/** What a payment on a chain can take of the network's coin, if the wallet may not have as much. Undefined if it has, or what was typed is no amount. */
export function missingFee(
  { asset, amount }: { asset: string; amount: string },
  { coin, fee_max }: Pick<Network, "coin" | "fee_max">,
  { balances }: Pick<Wallet, "balances">,
): { available: string; needed: string } | undefined {
  const availableOf = (code: string) => balances.find((one) => one.asset === code)?.available ?? "0";
  const available = availableOf(coin);
  try {
    // What is missing of the amount itself is said by itself.
    if (compare(amount, availableOf(asset)) > 0) return undefined;
    const paid = asset === coin ? toUnits(amount, decimalsMax) : 0n;
    const needed = fromUnits(paid + toUnits(fee_max, decimalsMax), decimalsMax);
    return compare(needed, available) > 0 ? { available, needed } : undefined;
  } catch {
    return undefined;
  }
}

interface FeeNoticeProps {
  body: { asset: string; amount: string };
  chain: Pick<Network, "coin" | "fee_max">;
  payer: Pick<Wallet, "balances">;
}

/** The wallet may not be able to pay the fee. */
export function FeeNotice({ body, chain, payer }: FeeNoticeProps) {
  const missing = missingFee(body, chain, payer);
  if (missing === undefined) return null;
  return (
    <p className="notice" data-tone="bad" role="alert">
      The wallet that would pay has only <Amount value={missing.available} asset={chain.coin} />, and with the
      network fee the payment can take <Amount value={missing.needed} asset={chain.coin} />. It fails if the
      fee is more than what is left.
    </p>
  );
}
