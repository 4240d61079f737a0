import { setTimeout as sleep } from "node:timers/promises";
import { type BursarProcess, spawnBursar } from "./bursar-process.js";
import { eventually } from "./eventually.js";

const startTimeoutMs = 60_000;

/** The sandbox as a process of its own, ready to serve at the port that `env` names. */
export async function startSandbox(env: Record<string, string>): Promise<BursarProcess> {
  const service = spawnBursar({ args: ["dev"], env });
  const isReady = () =>
    fetch(`http://127.0.0.1:${env["PORT"]}/readyz`).then(
      ({ status }) => status === 200,
      () => false,
    );
  await eventually(isReady, Boolean, startTimeoutMs);
  return service;
}

export async function runBursar(
  args: string[],
  env: Record<string, string>,
): Promise<{ code: number | null; output: string }> {
  const command = spawnBursar({ args, env });
  const { code } = await command.exited;
  return { code, output: command.output() };
}

/** Asks until there is one, also while the sandbox is starting again. */
export async function getToken(env: Record<string, string>): Promise<string> {
  for (;;) {
    const { code, output } = await runBursar(["token"], env);
    if (code === 0) return output.trim();
    await sleep(100);
  }
}
