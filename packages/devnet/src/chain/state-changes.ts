import { RpcError, rpcCodes } from "../rpc-error.js";
import { addStep, type ChainState } from "./chain-state.js";
import { toHex, toWord } from "./hex.js";
import type { JournalState } from "./journal.js";

/** Changes the state at the head without a transaction, and records that in the journal before anybody can see it. */
async function changeState(state: ChainState, change: JournalState): Promise<void> {
  await state.edr.request(change.method, change.params);
  await state.journal.append({ type: "state", ...change });
  addStep(state, { type: "state", ...change });
}

export async function setBalance(state: ChainState, address: string, wei: bigint): Promise<void> {
  await changeState(state, { method: "hardhat_setBalance", params: [address, toHex(wei)] });
}

/** What a transaction on a chain of the OP stack pays for its data, as the contract `L1Block` holds it. */
export interface DataFee {
  readonly baseFee: bigint;
  readonly baseFeeScalar: bigint;
  readonly blobBaseFee: bigint;
  readonly blobBaseFeeScalar: bigint;
  readonly operatorFeeScalar: bigint;
  readonly operatorFeeConstant: bigint;
}

/** About what Base pays: 5 gwei for a byte's base fee. */
export const initialDataFee: DataFee = {
  baseFee: 5_000_000_000n,
  baseFeeScalar: 2_269n,
  blobBaseFee: 1_000_000n,
  blobBaseFeeScalar: 1_055_762n,
  operatorFeeScalar: 0n,
  operatorFeeConstant: 0n,
};

const l1Block = "0x4200000000000000000000000000000000000015";

export async function setDataFee(state: ChainState, fee: DataFee): Promise<void> {
  if (state.identity.kind !== "op")
    throw new RpcError(rpcCodes.invalidParams, "Only a chain of the kind `op` has a data fee.");
  // The storage of L1Block since the hardfork Ecotone; slot 8 since Isthmus.
  const slots: [slot: number, value: bigint][] = [
    [1, fee.baseFee],
    [3, (fee.baseFeeScalar << 96n) | (fee.blobBaseFeeScalar << 64n)],
    [7, fee.blobBaseFee],
    [8, (fee.operatorFeeScalar << 64n) | fee.operatorFeeConstant],
  ];
  for (const [slot, value] of slots)
    await changeState(state, {
      method: "hardhat_setStorageAt",
      params: [l1Block, toHex(slot), toWord(value)],
    });
}
