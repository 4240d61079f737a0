import type { Checkpoint } from "./checkpoint.js";

/**
 * Finds the checkpoints in a file of JSON lines: as `bursar audit checkpoint` prints them, as the service logs them, or as events that a
 * client has received. Other lines are skipped, because a log has many.
 */
export function readCheckpoints(text: string): Checkpoint[] {
  return text.split("\n").flatMap((line) => {
    const found = [readLine(line)].flatMap((value) => [
      value,
      member(value, "checkpoint"),
      member(member(value, "data"), "checkpoint"),
    ]);
    return found.find(isCheckpoint) ?? [];
  });
}

function readLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

function isCheckpoint(value: unknown): value is Checkpoint {
  const text = (name: string) => typeof member(value, name) === "string";
  const tenant = member(value, "tenant_id");
  return (
    (tenant === null || typeof tenant === "string") &&
    Number.isSafeInteger(member(value, "number")) &&
    ["hash", "time", "key_id", "signature"].every(text)
  );
}
