import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { OperatorError } from "../operator-error.js";

/** The account that PostgreSQL runs as. It refuses to run as root, so root starts it under another account. */
export interface PostgresAccount {
  uid: number;
  gid: number;
}

const accountName = "bursar";

/**
 * The account to run PostgreSQL as, or undefined for the service's own. An existing cluster keeps running under the account that
 * owns its files.
 */
export function choosePostgresAccount(clusterDir: string): PostgresAccount | undefined {
  const own = process.getuid?.();
  const owner = ownerOf(clusterDir);
  if (own !== 0) {
    if (owner !== undefined && owner.uid !== own) {
      throw new OperatorError(
        `The database in ${clusterDir} belongs to another account (uid ${owner.uid}). Start Bursar as that account, or choose another folder with BURSAR_DATA_DIR.`,
      );
    }
    return undefined;
  }
  if (owner !== undefined && owner.uid !== 0) return owner;
  return readAccount() ?? createAccount();
}

function ownerOf(path: string): PostgresAccount | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? undefined : { uid: stats.uid, gid: stats.gid };
}

function readAccount(): PostgresAccount | undefined {
  const line = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((candidate) => candidate.startsWith(`${accountName}:`));
  const [, , uid, gid] = line?.split(":") ?? [];
  return uid === undefined || gid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) };
}

function createAccount(): PostgresAccount {
  try {
    execFileSync(
      "useradd",
      [
        "--system",
        "--no-create-home",
        "--home-dir",
        "/nonexistent",
        "--shell",
        "/usr/sbin/nologin",
        accountName,
      ],
      { stdio: "ignore" },
    );
  } catch {
    // Another start can have created it at the same time, so only its existence counts.
  }
  const account = readAccount();
  if (account !== undefined) return account;
  throw new OperatorError(
    `PostgreSQL does not run as root, and the system account "${accountName}" for it could not be created. Create it, start Bursar as an ordinary user, or set DATABASE_URL.`,
  );
}

/** Whether the account can read and enter the path, through every folder above it. */
export function canRead(path: string, account: PostgresAccount): boolean {
  return allows(path, account, 0o5) && canTraverse(dirname(path), account);
}

/** Whether the account can traverse a folder, and every folder above it. */
export function canTraverse(folder: string, account: PostgresAccount): boolean {
  for (let current = folder; ; current = dirname(current)) {
    if (!allows(current, account, 0o1)) return false;
    if (current === dirname(current)) return true;
  }
}

function allows(path: string, account: PostgresAccount, bits: number): boolean {
  const { mode, uid, gid } = statSync(path);
  const shift = uid === account.uid ? 6 : gid === account.gid ? 3 : 0;
  return ((mode >> shift) & bits) === bits;
}
