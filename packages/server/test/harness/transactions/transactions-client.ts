import { randomUUID } from "node:crypto";
import type { Transaction } from "@bursar/protocol";
import { eventually } from "../eventually.js";
import type { BlackBoxService } from "../service/test-service.js";

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  body: Transaction & {
    error?: { code: string; message: string; details?: { path: string; reason: string }[] };
  };
}

/** What a client of the transactions API does, for one token. */
export function transactionsOf(service: BlackBoxService, token: string) {
  const send = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> => {
    const response = await service.call(method, path, token, body, headers);
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: text === "" ? undefined : JSON.parse(text),
    };
  };
  const create = (body: object, key: string = randomUUID()) =>
    send("POST", "/v1/transactions", body, { "idempotency-key": key });
  const read = (id: string, headers: Record<string, string> = {}) =>
    send("GET", `/v1/transactions/${id}`, undefined, headers);
  return {
    send,
    create,
    read,
    /** Waits until the transaction is final. */
    settled: (id: string) =>
      eventually(
        async () => (await read(id)).body,
        ({ state }) => ["completed", "rejected", "failed", "cancelled"].includes(state),
      ),
    balances: async () => {
      const { data } = (await send("GET", "/v1/wallets")).body as unknown as {
        data: { id: string; role: string; balances: { asset: string; available: string; held: string }[] }[];
      };
      return Object.fromEntries(
        data.map(({ role, balances }) => [role, balances.find(({ asset }) => asset === "USD")]),
      );
    },
  };
}
