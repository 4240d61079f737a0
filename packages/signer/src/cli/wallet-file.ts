import { readFileSync } from "node:fs";
import { OperatorError } from "../operator-error.js";
import type { AddressedWallet } from "../signing/find-key-numbers.js";
import { readWallet } from "../signing/intent.js";

/** Wallets as `psql` writes them: the ids of the tenant and the wallet, the network and the address, separated by commas. */
export function readWalletFile(path: string): AddressedWallet[] {
  const lines = readLines(path);
  const wallets = lines.map((line, index) => {
    const [tenantId, walletId, network, address = "", ...others] = line.split(",");
    const wallet = readWallet({ tenantId, walletId, network });
    if (typeof wallet === "string" || others.length > 0 || !/^0x[0-9a-f]{40}$/.test(address))
      throw new OperatorError(
        `Line ${index + 1} of ${path} is not a wallet. A line has the ids of the tenant and the wallet, the network and the address in lower case, separated by commas.`,
      );
    return { ...wallet, address };
  });
  const ids = new Set(wallets.map(({ walletId }) => walletId));
  const addresses = new Set(wallets.map(({ address }) => address));
  if (ids.size < wallets.length || addresses.size < wallets.length)
    throw new OperatorError(`${path} has a wallet or an address twice.`);
  return wallets;
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, "utf8")
      .split("\n")
      .filter((line) => line !== "");
  } catch (cause) {
    throw new OperatorError(`${path} cannot be read: ${(cause as Error).message}.`, { cause });
  }
}
