import { createContext, useContext } from "react";

/** The decimals of assets, for all amounts below it. */
export const AssetDecimals = createContext<ReadonlyMap<string, number>>(new Map());

/** Writes amounts as `Amount` does, for files. */
export function useAmountText(): AmountText {
  const decimals = useContext(AssetDecimals);
  return (value, asset) => padded(value, decimals.get(asset));
}

export type AmountText = (value: string, asset: string) => string;

/** Money is written with all of its decimals. Of 18, nobody expects the zeros. */
const paddedMax = 4;

/** `500.5` of an asset with two decimals is `500.50`, which is the same number. */
export function padded(value: string, decimals: number | undefined): string {
  if (decimals === undefined || decimals === 0 || decimals > paddedMax) return value;
  const [whole = "", fraction = ""] = value.split(".");
  return `${whole}.${fraction.padEnd(decimals, "0")}`;
}

/** The decimals of an asset; undefined if they are not known. */
export function useDecimals(asset: string | undefined): number | undefined {
  const decimals = useContext(AssetDecimals);
  return asset === undefined ? undefined : decimals.get(asset);
}
