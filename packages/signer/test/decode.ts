import { createCustomCommon, Hardfork, Mainnet } from "@ethereumjs/common";
import { createTxFromRLP, type FeeMarket1559Tx } from "@ethereumjs/tx";

/** What another implementation reads in signed bytes. */
export function decode(bytes: string, chainId: number) {
  const common = createCustomCommon({ chainId }, Mainnet, { hardfork: Hardfork.Cancun });
  const tx = createTxFromRLP(new Uint8Array(Buffer.from(bytes.slice(2), "hex")), {
    common,
  }) as FeeMarket1559Tx;
  return {
    chainId: tx.chainId,
    nonce: tx.nonce,
    maxFeePerGas: tx.maxFeePerGas,
    maxPriorityFeePerGas: tx.maxPriorityFeePerGas,
    gasLimit: tx.gasLimit,
    to: tx.to?.toString(),
    value: tx.value,
    data: `0x${Buffer.from(tx.data).toString("hex")}`,
    accessList: tx.accessList,
    sender: tx.getSenderAddress().toString(),
    hash: `0x${Buffer.from(tx.hash()).toString("hex")}`,
    isValid: tx.isValid() && tx.verifySignature(),
  };
}
