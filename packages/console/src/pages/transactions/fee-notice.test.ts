import { expect, it } from "vitest";
import { missingFee } from "./fee-notice";

const chain = { coin: "ETH.DEV", fee_max: "0.05" };
const balanceOf = (asset: string, available: string) => ({ asset, available, held: "0" });
const wallet = (...balances: ReturnType<typeof balanceOf>[]) =>
  ({ balances }) as unknown as Parameters<typeof missingFee>[2];

it("the fee is paid on top of an amount of the same coin", () => {
  const payer = wallet(balanceOf("ETH.DEV", "1.749977295"));
  expect(missingFee({ asset: "ETH.DEV", amount: "1.749977" }, chain, payer)).toEqual({
    available: "1.749977295",
    needed: "1.799977",
  });
  expect(missingFee({ asset: "ETH.DEV", amount: "1.699977" }, chain, payer)).toBeUndefined();
});

it("a payment of a token needs coins for the fee", () => {
  const tokens = balanceOf("USDC.DEV", "100");
  const body = { asset: "USDC.DEV", amount: "100" };
  expect(missingFee(body, chain, wallet(tokens))).toEqual({ available: "0", needed: "0.05" });
  expect(missingFee(body, chain, wallet(tokens, balanceOf("ETH.DEV", "0.05")))).toBeUndefined();
});

it("says nothing of what is missing without a fee, or is no amount", () => {
  const payer = wallet(balanceOf("ETH.DEV", "1"));
  expect(missingFee({ asset: "ETH.DEV", amount: "2" }, chain, payer)).toBeUndefined();
  expect(missingFee({ asset: "ETH.DEV", amount: "1,5" }, chain, payer)).toBeUndefined();
});
