import {
  chmodSync,
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { CliError, usage } from "../exit-codes.js";
import type { Io } from "../terminal/io.js";

export interface Profile {
  url: string;
  client_id: string;
  /** Without it, it is asked for. */
  secret?: string;
  /** Requests are signed with this key instead. */
  key_id?: string;
  private_key_file?: string;
}

export interface Profiles {
  path: string;
  default: string | undefined;
  profiles: Record<string, Profile>;
}

const fileBytesMax = 1_000_000;

function pathOf(env: Io["env"]): string {
  const folder = env["XDG_CONFIG_HOME"] || join(env["HOME"] || homedir(), ".config");
  return join(folder, "bursar", "config.json");
}

export function readProfiles(env: Io["env"]): Profiles {
  const path = pathOf(env);
  const text = readPrivately(path, "its secrets");
  if (text === undefined) return { path, default: undefined, profiles: {} };
  try {
    const { default: chosen, profiles } = JSON.parse(text) as Partial<Profiles>;
    const all = Object.entries(profiles ?? {});
    if (all.every(([, profile]) => typeof profile?.url === "string" && typeof profile.client_id === "string"))
      return {
        path,
        default: typeof chosen === "string" ? chosen : undefined,
        profiles: Object.fromEntries(all),
      };
  } catch {
    // Explained below.
  }
  throw usage(`${path} is not a file of profiles. Correct it, or remove it and add the profiles again.`);
}

/** Replaces the file in one step, so that no reader sees half of it. */
export function writeProfiles({ path, ...content }: Profiles): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  chmodSync(draft, 0o600);
  renameSync(draft, path);
}

/** The mode is that of the file that is read, even if its name is replaced meanwhile. Windows has no such modes. */
export function readPrivately(path: string, what: string): string | undefined {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new CliError(`${path} cannot be read.`, "usage", { cause });
  }
  try {
    const stat = fstatSync(file);
    const { mode, size } = stat;
    if (!stat.isFile()) throw usage(`${path} is not a file.`);
    if (process.platform !== "win32" && (mode & 0o077) !== 0)
      throw usage(
        `The permissions ${(mode & 0o777).toString(8).padStart(4, "0")} of ${path} are too open: other accounts can read ${what}. Run \`chmod 600 ${path}\`.`,
      );
    if (size > fileBytesMax) throw usage(`${path} is too large: it has ${size} bytes.`);
    return readFileSync(file, "utf8");
  } finally {
    closeSync(file);
  }
}
