import { RpcError } from "../rpc-error.js";
import type { ControlInput, ControlName } from "./control-schemas.js";
import type { ControlResults } from "./controls.js";

/** The controls as functions, for tests and tools. */
export interface DevnetClient {
  readonly url: string;
  /** A request that is not a control; an error response is thrown as `RpcError`. */
  readonly request: (method: string, params?: readonly unknown[]) => Promise<unknown>;
  readonly control: <N extends ControlName>(name: N, input: ControlInput<N>) => Promise<ControlResults[N]>;
}

export function createDevnetClient(url: string): DevnetClient {
  const request = async (method: string, params: readonly unknown[] = []): Promise<unknown> => {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    const body = (await response.json()) as {
      result?: unknown;
      error?: { code: number; message: string; data?: unknown };
    };
    if (body.error !== undefined) throw new RpcError(body.error.code, body.error.message, body.error.data);
    return body.result;
  };
  return {
    url,
    request,
    control: async (name, input) => (await request(name, [input])) as ControlResults[typeof name],
  };
}
