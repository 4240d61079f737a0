import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { CliError, usage } from "../exit-codes.js";
import type { Io } from "../terminal/io.js";
import { isLocal, type Target } from "./target.js";

interface SandboxFile {
  url: string;
  clients: { name: string; client_id: string; client_secret: string }[];
}

/** One of the clients of the sandbox that runs from this folder. */
export function readSandbox(name: string, env: Io["env"]): Target {
  const path = join(resolve(env["BURSAR_DATA_DIR"] || ".bursar"), "credentials.json");
  const { url, clients } = readFile(path);
  // The file is that of the working folder, which others may have written: it must not choose where money is sent.
  if (!URL.canParse(url) || !isLocal(url))
    throw usage(
      `${path} names a service that is not on this machine (${url}). Add a profile for it: \`bursar profile add\`.`,
    );
  const client = clients.find((one) => one.name === name);
  if (client === undefined)
    throw usage(
      `The sandbox has no client ${name}. Its clients are ${clients.map((one) => one.name).join(", ")}.`,
    );
  const { client_id: clientId, client_secret: secret } = client;
  return { name: "sandbox", url, clientId, credentials: { clientId, secret } };
}

function readFile(path: string): SandboxFile {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw new CliError(
      `There are no sandbox credentials in ${path}. Run this in the folder of the sandbox (\`npm start\` creates one), set BURSAR_DATA_DIR to its data folder, or name a service: \`bursar profile add\`, or --url and --client-id.`,
      "usage",
      { cause },
    );
  }
  try {
    const file = JSON.parse(text) as Partial<SandboxFile>;
    if (typeof file.url === "string" && Array.isArray(file.clients)) return file as SandboxFile;
  } catch {
    // Explained below.
  }
  throw usage(`${path} does not contain sandbox credentials. Remove it and start the sandbox again.`);
}
