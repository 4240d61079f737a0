import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { OperatorError } from "../operator-error.js";

/** Whom PostgreSQL runs as. It refuses to run as root, so root hands it to another account. */
export interface PostgresAccount {
  uid: number;
  gid: number;
}

const accountName = "bursar";

/**
 * The account to run PostgreSQL as, or undefined where the service's own will do. A cluster that exists already belongs to
 * whoever made it and goes on under that account.
 */
export function choosePostgresAccount(clusterDir: string): PostgresAccount | undefined {
  const own = process.getuid?.();
  const owner = ownerOf(clusterDir);
  if (own !== 0) {
    if (owner !== undefined && owner.uid !== own) {
      throw new OperatorError(
        `The database in ${clusterDir} belongs to another account (uid ${owner.uid}): start Bursar as that account, or choose another folder with BURSAR_DATA_DIR.`,
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
    // Another start may have made it in the same moment; whether it is there decides.
  }
  const account = readAccount();
  if (account !== undefined) return account;
  throw new OperatorError(
    `PostgreSQL does not run as root, and the system account "${accountName}" for it could not be made: create it, start Bursar as an ordinary user, or set DATABASE_URL.`,
  );
}

/** Whether the account can read and enter the path, passing through every folder above it. */
export function canRead(path: string, account: PostgresAccount): boolean {
  return allows(path, account, 0o5) && canPass(dirname(path), account);
}

/** Whether the account can pass through a folder to something in it that it knows by name. */
export function canPass(folder: string, account: PostgresAccount): boolean {
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
