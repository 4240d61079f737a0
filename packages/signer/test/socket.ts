import { request } from "node:http";
import type { SigningIntent, Wallet } from "../src/signing/intent.js";
import type { SignedBytes } from "../src/signing/signing-core.js";
import { toJson } from "./intents.js";

export interface SocketAnswer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

/** One request over the socket, on a connection of its own. */
export function call(socketPath: string, method: string, path: string, content = ""): Promise<SocketAnswer> {
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, method, path, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      response.once("end", () =>
        resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) as Record<string, unknown> }),
      );
      response.once("error", reject);
    });
    asked.once("error", reject).end(content);
  });
}

export async function addressOf(socketPath: string, wallet: Wallet): Promise<string> {
  const { tenantId, walletId, network } = wallet;
  const content = JSON.stringify({ wallets: [{ tenantId, walletId, network }] });
  const { body } = await call(socketPath, "POST", "/addresses", content);
  const [address] = body["addresses"] as [string];
  return address;
}

export async function signAll(socketPath: string, intents: readonly SigningIntent[]): Promise<unknown[]> {
  const { body } = await call(socketPath, "POST", "/sign", JSON.stringify({ intents: intents.map(toJson) }));
  if (body["answers"] === undefined) throw new Error(JSON.stringify(body));
  return body["answers"] as unknown[];
}

export async function signOne(socketPath: string, intent: SigningIntent): Promise<SignedBytes> {
  const [answer] = (await signAll(socketPath, [intent])) as [SignedBytes];
  if (answer.bytes === undefined) throw new Error(JSON.stringify(answer));
  return answer;
}
