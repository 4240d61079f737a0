import { chmodSync, mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A fresh folder that PostgreSQL's account can pass through when the tests run as root. */
export function createTemporaryFolder(name: string): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), `bursar-${name}-`)));
  chmodSync(folder, 0o711);
  return folder;
}
