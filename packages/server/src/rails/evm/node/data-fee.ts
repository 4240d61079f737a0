import type { Question } from "../rpc/rpc-pool.js";
import { word } from "../transaction/transfer-call.js";
import { readWord } from "./chain-state.js";

/** The contract of every chain of the OP stack that says what a transaction pays beside its gas. */
export const gasPriceOracle = "0x420000000000000000000000000000000000000f";

/** The first four bytes of the hashes of `getL1FeeUpperBound(uint256)` and `getOperatorFee(uint256)`. */
const upperBoundSelector = "0xf1c7a58b";
const operatorFeeSelector = "0x275aedd2";

/** The largest that a payment is before it is signed, with every number of it at its longest. */
const coinPaymentBytes = 121n;
const tokenPaymentBytes = 158n;

/** A bound on the fee for the data of a payment, at present prices. Each node says it of its own newest block: none is left out that lags a little. */
export function dataFeeQuestion(isToken: boolean): Question<bigint> {
  const size = isToken ? tokenPaymentBytes : coinPaymentBytes;
  return oracleQuestion(`${upperBoundSelector}${word(size)}`);
}

/** The fee of the operator, which depends on the gas. Before the hardfork Isthmus there is none, and the call reverts. */
export function operatorFeeQuestion(gasLimit: bigint): Question<bigint> {
  return oracleQuestion(`${operatorFeeSelector}${word(gasLimit)}`);
}

function oracleQuestion(data: string): Question<bigint> {
  return {
    method: "eth_call",
    params: [{ to: gasPriceOracle, data }, "latest"],
    read: (result) => readWord(result, "the fee of the oracle"),
  };
}

/** The price of data follows the base fee of Ethereum, which can double in six blocks. */
export function withDataFeeMargin(fee: bigint): bigint {
  return 2n * fee;
}
