/** An error that a node has answered. The message is the node's own, shortened and without secrets. */
export interface RpcError {
  readonly code: number;
  readonly message: string;
  /** What a contract returned when it reverted. */
  readonly returned: string | undefined;
}

export const methodNotFound = -32_601;

/** What is said in the place of an answer that has more bytes than are read. */
const tooLargeCode = 413;
/** geth (-32003), reth (-32008), Alchemy (-32602) and other providers, which have bounds of their own. */
const tooLargeWords =
  /(?:response|answer|result)\b.{0,20}\b(?:too (?:large|big)|exceed|should not be greater)/i;

export function answerTooLarge(bytesMax: number): RpcError {
  return { code: tooLargeCode, message: `the answer has more than ${bytesMax} bytes`, returned: undefined };
}

/** Whether the answer to a call is larger than the node gives, or than is read; of a batch, perhaps only together with others. */
export function isAnswerTooLarge({ code, message }: RpcError): boolean {
  return code === tooLargeCode || tooLargeWords.test(message);
}

/** Codes that providers use for nothing else: 429 by Alchemy, -32007 by QuickNode, -32016 by Base, -32029 by Cloudflare. */
const rateCodes: ReadonlySet<number> = new Set([429, -32_007, -32_016, -32_029]);
const rateWords = /rate limit|request limit|too many requests|compute units per second|requests per second/i;

/**
 * Whether the node refuses for now because it was asked too often. Infura and others use -32005 both for this and for answers that are too
 * large, so the words decide. Nothing but the pace depends on it. A contract chooses the words of its revert, so these say nothing about the node.
 */
export function isRateLimit(error: RpcError): boolean {
  return (rateCodes.has(error.code) || rateWords.test(error.message)) && !isRevert(error);
}

/** Words of nodes for an execution that fails: geth, Nethermind, EDR; out of gas is what an invalid instruction looks like to an estimate. */
const revertWords = /revert|invalid opcode|out of gas|gas required exceeds/i;
const revertCode = 3;

/**
 * Whether a call was executed and failed, and would not do better elsewhere. Nodes that follow geth answer code 3 with the data that the
 * contract returned, but not if it returned none.
 */
export function isRevert({ code, message, returned }: RpcError): boolean {
  return code === revertCode || returned !== undefined || revertWords.test(message);
}

export function describeError({ code, message }: RpcError): string {
  return `error ${code}: ${message}`;
}
