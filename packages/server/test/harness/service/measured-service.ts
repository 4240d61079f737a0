import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("./measured-service.mjs", import.meta.url));

/** What a process uses. */
export interface ProcessUse {
  heapBytes: number;
  externalBytes: number;
  rssBytes: number;
  cpuMs: number;
  /** Open files and sockets. */
  descriptors: number;
  /** What keeps the event loop alive: sockets, timers, requests in progress. */
  handles: number;
}

/** The built service in a process of its own, with webhooks to this machine, which can be asked what it uses. */
export interface MeasuredService {
  url: string;
  child: ChildProcess;
  output: () => string;
  /** Collects garbage before, unless it must not. */
  measure: (how?: "collect" | "as it is") => Promise<ProcessUse>;
  stop: () => Promise<void>;
}

export async function startMeasuredService(env: Record<string, string>): Promise<MeasuredService> {
  const child = fork(program, {
    env: {
      PATH: process.env["PATH"],
      PORT: "0",
      BURSAR_DRAIN_DELAY_MS: "0",
      BURSAR_ALLOW_HTTP_PUBLIC_URL: "true",
      ...env,
    },
    execArgv: ["--expose-gc"],
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
    });
  const closed = once(child, "close").then(() => {
    throw new Error(`the service has ended:\n${output}`);
  });
  closed.catch(() => undefined);
  const [{ url }] = (await Promise.race([once(child, "message"), closed])) as [{ url: string }];
  return {
    url,
    child,
    output: () => output,
    measure: async (how = "collect") => {
      const answer = once(child, "message");
      child.send(how);
      const [use] = await Promise.race([answer, closed]);
      return use as ProcessUse;
    },
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGTERM");
      await closed.catch(() => undefined);
    },
  };
}
