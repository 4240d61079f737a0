import type { CreateTransactionBody, CreateWalletBody, Event, Transaction, Wallet } from "@bursar/protocol";

/** What a client can ask of the service, as it would by HTTP. */
export type Request =
  | { kind: "create"; key: string; body: CreateTransactionBody }
  | { kind: "cancel"; id: string }
  | { kind: "read"; id: string; waitFor?: { versionOtherThan: number; timeoutMs: number } }
  | { kind: "list"; limit: number; beforeId: string | undefined }
  | { kind: "events"; after: number; limit: number }
  | { kind: "create_wallet"; key: string; body: CreateWalletBody }
  | { kind: "freeze"; walletId: string; frozen: boolean }
  | { kind: "read_wallet"; walletId: string }
  | { kind: "list_wallets" };

/** What it receives. The forms of the bodies are those of the wire. */
export type Answer =
  | { status: 200 | 202; body: unknown }
  | { status: number; code: string }
  /** No answer: nobody knows whether anything was done. */
  | "lost";

/** One request and its answer, with the moments at which the client sent and received them. */
export interface Exchange {
  tenant: string;
  request: Request;
  sentMs: number;
  answer: Answer;
  answeredMs: number;
  /** Counts what clients send and receive, so that "before" has a meaning within one millisecond. */
  sentOrder: number;
  answeredOrder: number;
  /** After the faults have ended, when all processes have started and know their database. */
  isClosing: boolean;
  /** The epoch of the database when it was sent; undefined if some process had not noticed yet that it is another one. */
  epoch: number | undefined;
}

export function bodyOf(exchange: { answer: Answer }): unknown {
  const { answer } = exchange;
  return answer !== "lost" && "body" in answer ? answer.body : undefined;
}

export function codeOf(exchange: { answer: Answer }): string | undefined {
  const { answer } = exchange;
  return answer !== "lost" && "code" in answer ? answer.code : undefined;
}

/** The wallet or the address on one side of a transaction. */
export function partyOf(side: { wallet_id: string } | { address: string } | null): string {
  if (side === null) return "unknown";
  return "wallet_id" in side ? side.wallet_id : side.address;
}

/** Whether the client knows now what became of its request. */
export function isDefinite(answer: Answer): boolean {
  return answer !== "lost" && answer.status < 500;
}

export type { Event, Transaction, Wallet };
