import type { ChainNetwork } from "../../app/chain/chain-network.js";
import type { Rail } from "../../app/rails/rail.js";
import { explainUnpayable, readEvmAddress } from "./address/evm-address.js";

/** An EVM chain: payments are signed, sent and followed by its driver, and wallets are active when the signer has given them an address. */
export function createEvmRail({ network, tokens }: ChainNetwork): Rail {
  const contracts = tokens.map(({ contract }) => contract);
  return {
    network,
    firstEvent: "begin",
    activatesWalletsAtOnce: false,
    readAddress: (text) => {
      const read = readEvmAddress(text);
      return read === undefined
        ? { fault: "is not an address of this network, or its checksum (EIP-55) is wrong" }
        : { address: read.address };
    },
    explainUnpayable: (address, { source }) => explainUnpayable(address, { source, tokens: contracts }),
    // In a block there is nothing left to replace.
    mayCancel: (state) => state !== "confirming",
  };
}
