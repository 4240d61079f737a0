import type { Credentials } from "@bursar/client";
import { usage } from "../exit-codes.js";
import type { Given } from "../parse/given.js";
import type { Io } from "../terminal/io.js";
import { type Profile, readPrivately, readProfiles } from "./profile-file.js";
import { readSandbox } from "./sandbox.js";

/** A service, and who asks it. */
export interface Target {
  /** How messages name it. */
  name: string;
  url: string;
  credentials: Credentials;
  clientId: string | undefined;
}

/**
 * Which service is meant: `--url`, `--profile`, the environment, the default profile, and otherwise the sandbox. A secret is never an
 * argument, because every user of the machine can see those.
 */
export async function findTarget(given: Given, io: Io): Promise<Target> {
  const { env } = io;
  const url = given.text("url");
  if (url !== undefined) return await fromParts({ url, client_id: given.text("client-id") }, io, url, true);
  if (given.text("client-id") !== undefined) throw usage("--client-id needs --url.");
  const client = given.text("client");
  const name = given.text("profile") ?? (client === undefined ? env["BURSAR_PROFILE"] : "sandbox");
  if (name !== undefined && name !== "") return await fromProfile(name, client, io);
  if (env["BURSAR_URL"])
    return await fromParts(
      { url: env["BURSAR_URL"], client_id: env["BURSAR_CLIENT_ID"] },
      io,
      env["BURSAR_URL"],
      true,
    );
  const { default: chosen } = readProfiles(env);
  return await fromProfile(chosen ?? "sandbox", client, io);
}

async function fromProfile(name: string, client: string | undefined, io: Io): Promise<Target> {
  if (name === "sandbox") return readSandbox(client ?? "sandbox", io.env);
  if (client !== undefined)
    throw usage("--client selects a client of the sandbox; it cannot be used with --profile.");
  const { path, profiles } = readProfiles(io.env);
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (profile === undefined) {
    const known = ["sandbox", ...Object.keys(profiles)].join(", ");
    throw usage(`There is no profile ${name} in ${path}. The profiles are ${known}.`);
  }
  return await fromParts(profile, io, name, false);
}

async function fromParts(
  {
    url,
    client_id: clientId,
    secret,
    key_id: keyId,
    private_key_file: keyFile,
  }: Omit<Profile, "client_id"> & { client_id: string | undefined },
  io: Io,
  name: string,
  isFromEnvironment: boolean,
): Promise<Target> {
  checkAddress(url);
  const token = isFromEnvironment ? io.env["BURSAR_TOKEN"] : undefined;
  if (token) return { name, url, clientId, credentials: () => token };
  if (clientId === undefined || clientId === "")
    throw usage("The client is missing: give --client-id, or set BURSAR_CLIENT_ID or BURSAR_TOKEN.");
  if (keyId !== undefined && keyFile !== undefined)
    return { name, url, clientId, credentials: { clientId, keyId, privateKey: readKey(keyFile) } };
  return {
    name,
    url,
    clientId,
    credentials: { clientId, secret: secret ?? (await findSecret(io, clientId)) },
  };
}

/** The secret of a client, from the environment or typed in. */
export async function findSecret(io: Io, clientId: string): Promise<string> {
  const secret = io.env["BURSAR_CLIENT_SECRET"];
  if (secret) return secret;
  if (!io.isTerminal.in)
    throw usage("Set BURSAR_CLIENT_SECRET, or run this on a terminal to be prompted for the secret.");
  const typed = (await io.ask(`Secret of ${clientId}: `, { hidden: true })).trim();
  if (typed === "") throw usage("No secret was given.");
  return typed;
}

function readKey(path: string): string {
  const key = readPrivately(path, "its private key");
  if (key === undefined) throw usage(`There is no private key ${path}.`);
  return key;
}

/** Credentials in an address would be shown by every message that names it. */
export function checkAddress(url: string): void {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (address === undefined || !/^https?:$/.test(address.protocol))
    throw usage(`${JSON.stringify(url)} is not an http or https address.`);
  if (address.username !== "" || address.password !== "")
    throw usage(
      `The address of ${address.host} has credentials in it. Give the address without them; the secret of the client comes from BURSAR_CLIENT_SECRET or a prompt.`,
    );
}

/** Whether an address is on this machine. */
export function isLocal(url: string): boolean {
  const { hostname } = new URL(url);
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}
