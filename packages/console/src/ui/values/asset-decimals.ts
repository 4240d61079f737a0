import { createContext, useContext } from "react";

/** The decimals of assets, for all amounts below it. */
export const AssetDecimals = createContext<ReadonlyMap<string, number>>(new Map());

/** The decimals of an asset; undefined if they are not known. */
export function useDecimals(asset: string | undefined): number | undefined {
  const decimals = useContext(AssetDecimals);
  return asset === undefined ? undefined : decimals.get(asset);
}
