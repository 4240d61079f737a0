import { closeSync, fstatSync, openSync, readFileSync } from "node:fs";
import { OperatorError } from "../operator-error.js";

const fileBytesMax = 4096;

/** Reads a small secret, and refuses it if other accounts can read it too. The mode is that of the file that is read. */
export function readPrivateFile(path: string, what: string): string {
  let file: number | undefined;
  try {
    file = openSync(path, "r");
    const { mode, uid, size } = fstatSync(file);
    refuseOpenToOthers(path, what, mode, uid);
    if (size > fileBytesMax) throw new OperatorError(`${path} is too large for ${what}.`);
    return readFileSync(file, "utf8");
  } catch (cause) {
    if (cause instanceof OperatorError) throw cause;
    throw new OperatorError(`${path}, ${what}, cannot be read: ${(cause as Error).message}.`, { cause });
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/**
 * As ssh does: nobody but the owner may have access. A file of another owner may have a group, because that is how an orchestrator
 * mounts a secret for a process that does not own it. Windows has no such modes.
 */
function refuseOpenToOthers(path: string, what: string, mode: number, uid: number): void {
  if (process.platform === "win32") return;
  const forbidden = uid === process.getuid?.() ? 0o077 : 0o007;
  if ((mode & forbidden) === 0) return;
  const shown = (mode & 0o777).toString(8).padStart(4, "0");
  throw new OperatorError(
    `The permissions ${shown} of ${path}, ${what}, are too open: other accounts can access it. Run \`chmod 600 ${path}\`.`,
  );
}
