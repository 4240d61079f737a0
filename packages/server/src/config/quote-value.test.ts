import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { loadConfig } from "./load-config.js";

describe("an error about the configuration", () => {
  const folder = mkdtempSync(join(tmpdir(), "quote-value-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  const messageOf = (env: Record<string, string>) => {
    try {
      loadConfig(env);
    } catch (error) {
      return (error as Error).message;
    }
    throw new Error("it was accepted");
  };
  const withFile = (content: string) => {
    const path = join(folder, "bursar.yaml");
    writeFileSync(path, content);
    return messageOf({ BURSAR_CONFIG: path });
  };

  it.each([
    ["a password", "mysql://me:hunter2@db/x"],
    ["a password with characters of a URL", "mysql://me:a/b@hunter2?@db/x"],
    ["a token as the user", "mysql://hunter2@db/x"],
    ["a parameter", "mysql://db/x?user=me&password=hunter2"],
    ["a fragment", "mysql://db/x#hunter2"],
    ["a password without a URL", "host=db password=hunter2 user=me"],
    ["a password in quotes", "host=db password='a hunter2' user=me"],
    ["a line feed", "mysql://me:a\nhunter2@db/x"],
  ])("does not show %s", (_what, url) => {
    const message = messageOf({ DATABASE_URL: url });
    expect(message).toContain("database_url (environment DATABASE_URL) is");
    expect(message).toContain("********");
    expect(message).not.toContain("hunter2");
  });

  it("shows the rest, so that the mistake can be found", () => {
    const message = messageOf({ DATABASE_URL: "mysql://me:hunter2@db.example:5432/x?a=b" });
    expect(message).toContain('is "mysql://********@db.example:5432/x?********": it must be');
    expect(messageOf({ PORT: "80 80" })).toContain('"80 80"');
  });

  it("does not show them in the entry of a list, or the line that is not valid YAML", () => {
    const asset = (decimals: string) => `assets:\n  - code: USD\n    decimals: ${decimals}\n`;
    expect(withFile(asset("mysql://me:hunter2@db/x"))).toMatch(/decimals.*\*{8}@db/);
    const invalid = withFile('port: 80\ndatabase_url: "postgres://me:hunter2@db/x\n');
    expect(invalid).toMatch(/is not valid YAML: .*line \d/);
    expect(invalid).not.toContain("hunter2");
  });
});
