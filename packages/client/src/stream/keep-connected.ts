import { BursarError } from "../errors/bursar-error.js";
import type { CallOptions } from "../transport/options.js";
import { sleep } from "../transport/runtime.js";
import type { Transport } from "../transport/transport.js";
import { openSocket, type StreamSocket } from "./socket.js";

const firstPauseMs = 500;
const pauseMsMax = 8000;
/** The client itself is at fault: another attempt would end in the same way. */
const fatalCodes = [1002, 1003, 1007, 1008, 1009];

/** Sockets, one after the other, until the signal is aborted. Pauses grow while nothing arrives. */
export async function* keepConnected(
  transport: Transport,
  options: CallOptions,
): AsyncGenerator<{ socket: StreamSocket; isAlive: () => void }, void, undefined> {
  const { runtime } = transport;
  const { signal } = options;
  let failures = 0;
  while (!signal?.aborted) {
    try {
      const socket = await openSocket(transport, options);
      try {
        yield {
          socket,
          isAlive: () => {
            failures = 0;
          },
        };
      } finally {
        socket.close();
      }
      const code = socket.closeCode() ?? 1006;
      if (fatalCodes.includes(code)) throw refused(code);
    } catch (error) {
      if (signal?.aborted) return;
      if (!mayRecover(error)) throw error;
    }
    failures += 1;
    const pauseMs = runtime.random() * Math.min(pauseMsMax, firstPauseMs * 2 ** (failures - 1));
    await sleep(runtime, pauseMs, signal).catch(() => undefined);
  }
}

/** The service will be back; credentials that it refuses, or a lacking scope, will not get better by themselves. */
function mayRecover(error: unknown): boolean {
  if (!(error instanceof BursarError)) return false;
  const { status, code } = error;
  if (["CREDENTIALS_INVALID", "STREAM_REFUSED", "WEBSOCKET_MISSING"].includes(code)) return false;
  return status === undefined || status >= 500 || status === 408 || status === 429;
}

function refused(closeCode: number): BursarError<"STREAM_REFUSED"> {
  return new BursarError({
    code: "STREAM_REFUSED",
    message: `The service closed the stream with ${closeCode}: the token does not allow the subscription, or the client sent what it must not.`,
    outcome: "refused",
    attempts: 1,
  });
}
