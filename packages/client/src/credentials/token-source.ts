import { BursarError } from "../errors/bursar-error.js";
import type { Runtime } from "../transport/runtime.js";
import { credentialsInvalid } from "./credentials.js";

export interface IssuedToken {
  token: string;
  /** 0 if it is not known: then a new one is requested for every call. */
  lifetimeMs: number;
}

export interface TokenSource {
  get: (signal?: AbortSignal | undefined) => Promise<string>;
  /** Drops a token that the service has refused, unless it was replaced already. */
  refuse: (token: string) => void;
}

const renewAheadMs = 60_000;

/** Keeps one token. Calls that wait for it at the same time share one request, which none of them can abort for the others. */
export function createTokenSource(issue: () => Promise<IssuedToken>, runtime: Runtime): TokenSource {
  let current: { token: string; renewAt: number } | undefined;
  let pending: Promise<string> | undefined;

  async function renew(): Promise<string> {
    const startedAt = runtime.monotonicMs();
    const { token, lifetimeMs } = await issue();
    // Whatever else it is would be sent as a header, and an error about it would show it.
    if (!/^[\w.~+/=-]{1,8192}$/.test(token)) throw credentialsInvalid("The token is not a bearer token.");
    // A token that lives for less than two minutes is renewed after half of that.
    const aheadMs = Math.min(renewAheadMs, lifetimeMs / 2);
    current = lifetimeMs > 0 ? { token, renewAt: startedAt + lifetimeMs - aheadMs } : undefined;
    return token;
  }

  return {
    get: async (signal) => {
      if (current !== undefined && runtime.monotonicMs() < current.renewAt) return current.token;
      pending ??= renew().finally(() => {
        pending = undefined;
      });
      return await waitUnlessAborted(pending, signal);
    },
    refuse: (token) => {
      if (current?.token === token) current = undefined;
    },
  };
}

function waitUnlessAborted(work: Promise<string>, signal: AbortSignal | undefined): Promise<string> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const onAbort = () =>
      reject(
        new BursarError({
          code: "ABORTED",
          message: "The call was aborted.",
          outcome: "not_sent",
          attempts: 0,
          cause: signal.reason,
        }),
      );
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
