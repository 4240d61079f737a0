import { Agent, type IncomingMessage, request } from "node:http";
import {
  type SignedBytes,
  type SignedNonce,
  type Signer,
  type SignerRefusal,
  type SignerRefusalCode,
  SignerUnavailableError,
  type SigningIntent,
} from "../../app/chain/signer.js";
import type { SignerLimits } from "../../app/chain/signer-limits.js";

/** A signer behind a Unix socket. */
export interface SignerClient extends Signer {
  /** Undefined if it does not answer, or not with its limits. */
  readLimits: (network: string) => Promise<SignerLimits | undefined>;
  close: () => void;
}

export interface SignerClientOptions {
  socketPath: string;
  /** The ids of the service's own master keys: the signer's seed must not be sealed with one of them. */
  forbiddenKeyIds?: readonly string[];
  timeoutMs?: number;
}

interface Answer {
  status: number;
  body: unknown;
}

const standardTimeoutMs = 30_000;
/** The signer accepts 500 in a request; a smaller batch is answered sooner. */
const batchMax = 200;
/** It lists up to 256 nonces of each wallet, some 20 kB. */
const listedMax = 32;
const connectionsMax = 4;
const responseBytesMax = 1 << 20;
const refusalCodes: Readonly<Record<SignerRefusalCode, true>> = {
  WALLET_UNKNOWN: true,
  DIFFERENT_PAYMENT: true,
  NONCE_USED: true,
  FEES_NOT_HIGHER: true,
  FEE_ABOVE_LIMIT: true,
  CANCELLED: true,
  INTENT_INVALID: true,
};

export function createSignerClient(options: SignerClientOptions): SignerClient {
  const { socketPath, forbiddenKeyIds = [], timeoutMs = standardTimeoutMs } = options;
  const agent = new Agent({ keepAlive: true, maxSockets: connectionsMax });
  const ask = (method: string, path: string, content?: unknown) =>
    exchange({ agent, socketPath, method, path, timeoutMs, content });
  const askForList = async (
    path: string,
    name: string,
    field: string,
    items: readonly unknown[],
    askedMax = batchMax,
  ) => {
    const answers: unknown[] = [];
    for (let start = 0; start < items.length; start += askedMax) {
      const batch = items.slice(start, start + askedMax);
      const { status, body } = await ask("POST", path, { [name]: batch });
      const list = (body as Record<string, unknown> | null)?.[field];
      // What it refuses is at fault, not the signer: nothing else of the batch was answered either.
      if (status >= 400 && status < 500)
        throw new Error(`The signer refused ${path} with ${describe(status, body)}.`);
      if (status !== 200 || !Array.isArray(list) || list.length !== batch.length)
        throw new SignerUnavailableError(`The signer answered ${path} with ${describe(status, body)}.`);
      answers.push(...list);
    }
    return answers;
  };
  return {
    addressesOf: async (wallets) => {
      const asked = wallets.map(({ tenantId, walletId, network }) => ({ tenantId, walletId, network }));
      const addresses = await askForList("/addresses", "wallets", "addresses", asked);
      return addresses.map(readAddress);
    },
    sign: async (intents) => {
      const answers = await askForList("/sign", "intents", "answers", intents.map(writeIntent));
      return answers.map(readAnswer);
    },
    signedFrom: async (wallets) => {
      const asked = wallets.map(({ tenantId, walletId, network, nonce }) => ({
        ...{ tenantId, walletId, network, nonce },
      }));
      return (await askForList("/signed", "wallets", "signed", asked, listedMax)).map(readSigned);
    },
    health: async () => {
      try {
        const { status, body } = await ask("GET", "/health");
        return judgeHealth(status, body, forbiddenKeyIds);
      } catch (error) {
        return { isReady: false, reason: (error as Error).message };
      }
    },
    countWallets: async () => {
      const { status, body } = await ask("GET", "/health");
      const { wallets, runId } = recordOf(body);
      if (status === 200 && Number.isSafeInteger(wallets))
        return { count: Number(wallets), runId: typeof runId === "string" ? runId : undefined };
      throw new SignerUnavailableError(`The signer answered /health with ${describe(status, body)}.`);
    },
    readLimits: async (network) => {
      try {
        const { body } = await ask("GET", "/health");
        return readLimits(body, network);
      } catch {
        return undefined;
      }
    },
    close: () => agent.destroy(),
  };
}

/** Exactly the fields that the signer knows; amounts are strings, because they can be larger than a number. */
function writeIntent(intent: SigningIntent): unknown {
  return {
    tenantId: intent.tenantId,
    transactionId: intent.transactionId,
    walletId: intent.walletId,
    network: intent.network,
    address: intent.address,
    nonce: intent.nonce,
    purpose: intent.purpose,
    contract: intent.contract,
    destination: intent.destination,
    amount: intent.amount.toString(),
    gasLimit: intent.gasLimit.toString(),
    maxFeePerGas: intent.maxFeePerGas.toString(),
    maxPriorityFeePerGas: intent.maxPriorityFeePerGas.toString(),
  };
}

function readAddress(given: unknown): string {
  if (typeof given === "string" && /^0x[0-9a-f]{40}$/.test(given)) return given;
  throw new SignerUnavailableError("The signer answered with something that is not an address.");
}

function readAnswer(given: unknown): SignedBytes | SignerRefusal {
  const { bytes, hash, refused, reason, signed } = (given ?? {}) as Record<string, unknown>;
  if (isRefusalCode(refused) && typeof reason === "string")
    return isSignedNonce(signed) ? { refused, reason, signed: readNonce(signed) } : { refused, reason };
  const isSigned = typeof bytes === "string" && typeof hash === "string" && refused === undefined;
  if (isSigned && /^0x02([0-9a-f]{2})+$/.test(bytes) && /^0x[0-9a-f]{64}$/.test(hash)) return { bytes, hash };
  throw new SignerUnavailableError("The signer answered with something that is neither bytes nor a refusal.");
}

function readSigned(given: unknown): SignedNonce[] | SignerRefusal {
  if (!Array.isArray(given)) {
    const answer = readAnswer(given);
    if ("refused" in answer) return answer;
  } else if (given.every(isSignedNonce)) return given.map(readNonce);
  throw new SignerUnavailableError("The signer answered with something that is not a list of signed nonces.");
}

function isSignedNonce(given: unknown): given is SignedNonce {
  const { nonce, transactionId } = (given ?? {}) as Record<string, unknown>;
  return (
    Number.isSafeInteger(nonce) &&
    Number(nonce) >= 0 &&
    typeof transactionId === "string" &&
    /^[0-9a-f-]{36}$/.test(transactionId)
  );
}

function readNonce({ nonce, transactionId }: SignedNonce): SignedNonce {
  return { nonce, transactionId };
}

function isRefusalCode(code: unknown): code is SignerRefusalCode {
  return typeof code === "string" && Object.hasOwn(refusalCodes, code);
}

function judgeHealth(status: number, body: unknown, forbiddenKeyIds: readonly string[]) {
  const { status: state, keyId } = (body ?? {}) as Record<string, unknown>;
  if (status !== 200 || state !== "ready")
    return { isReady: false, reason: `The signer answered with ${describe(status, body)}.` };
  if (typeof keyId !== "string" || forbiddenKeyIds.includes(keyId))
    return {
      isReady: false,
      reason:
        "The seed of the signer is sealed with the master key of the service. Give the signer a key file of its own, and run `bursar-signer reseal`.",
    };
  return { isReady: true, reason: null };
}

function readLimits(body: unknown, network: string): SignerLimits | undefined {
  const { perGas, perTransaction } = recordOf(recordOf(body)["limits"]);
  const read = (limit: unknown) => {
    const { standard, networks } = recordOf(limit);
    const wei = recordOf(networks)[network] ?? standard;
    return typeof wei === "string" && /^\d{1,78}$/.test(wei) ? BigInt(wei) : undefined;
  };
  const limits = { perGas: read(perGas), perTransaction: read(perTransaction) };
  return limits.perGas === undefined || limits.perTransaction === undefined
    ? undefined
    : { perGas: limits.perGas, perTransaction: limits.perTransaction };
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function describe(status: number, body: unknown): string {
  const { error } = (body ?? {}) as Record<string, unknown>;
  return typeof error === "string" ? `${status}: ${error.slice(0, 300)}` : `${status}`;
}

interface Exchange {
  agent: Agent;
  socketPath: string;
  method: string;
  path: string;
  timeoutMs: number;
  content: unknown;
}

/** A connection that was kept open may have been closed by a signer that restarted, so such a request is sent once more. */
async function exchange(options: Exchange): Promise<Answer> {
  try {
    return await send(options);
  } catch (error) {
    if ((error as { isReused?: boolean }).isReused !== true) throw error;
    return send(options);
  }
}

function send({ agent, socketPath, method, path, timeoutMs, content }: Exchange): Promise<Answer> {
  const body = content === undefined ? undefined : JSON.stringify(content);
  const headers =
    body === undefined
      ? {}
      : { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(timeoutMs);
    const asked = request({ agent, socketPath, method, path, headers, signal }, (response) =>
      readResponse(response).then(resolve, fail),
    );
    const fail = (cause: unknown) => {
      const why = signal.aborted ? `no answer within ${timeoutMs} ms` : (cause as Error).message;
      const error = new SignerUnavailableError(`The signer at ${socketPath} is unavailable: ${why}.`, {
        cause,
      });
      reject(Object.assign(error, { isReused: asked.reusedSocket && !signal.aborted }));
    };
    asked.once("error", fail).end(body);
  });
}

async function readResponse(response: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > responseBytesMax) throw new Error("its answer is too long");
    chunks.push(chunk);
  }
  return { status: response.statusCode ?? 0, body: JSON.parse(Buffer.concat(chunks).toString("utf8")) };
}
