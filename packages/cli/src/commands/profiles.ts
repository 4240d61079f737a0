import { resolve } from "node:path";
import { usage } from "../exit-codes.js";
import type { Given } from "../parse/given.js";
import { type Profile, readPrivately, readProfiles, writeProfiles } from "../profiles/profile-file.js";
import { checkAddress, findSecret } from "../profiles/target.js";
import type { Command, Context } from "./command.js";

const name = { name: "name", about: "the name of the profile" };

export const profileCommands: readonly Command[] = [
  {
    path: "profile list",
    summary: "list the profiles; the sandbox needs none",
    operations: [],
    columns: ["name", "default", "url", "client_id", "credentials"],
    run: async ({ io, output }) => {
      const { default: chosen, profiles } = readProfiles(io.env);
      const rows = Object.entries(profiles).map(([one, profile]) => ({
        name: one,
        default: one === chosen,
        url: profile.url,
        client_id: profile.client_id,
        credentials: kindOf(profile),
      }));
      await output.list(rows, ["name", "default", "url", "client_id", "credentials"]);
      return undefined;
    },
  },
  {
    path: "profile add",
    summary: "add a profile: a service and a client; the secret comes from BURSAR_CLIENT_SECRET or a prompt",
    arguments: [
      name,
      { name: "url", about: "the address of the service" },
      { name: "client-id", about: "the client" },
    ],
    options: [
      { name: "replace", about: "replace a profile of this name without a question" },
      { name: "ask", about: "do not store the secret; ask for it each time" },
      { name: "key-id", value: "id", about: "sign requests with this key instead of a secret" },
      { name: "key-file", value: "path", about: "the Ed25519 private key, as PEM" },
    ],
    operations: [],
    run: addProfile,
  },
  {
    path: "profile use",
    summary: "make a profile the default; `sandbox` is the sandbox",
    arguments: [name],
    operations: [],
    run: async ({ io, note }, given) => {
      const all = readProfiles(io.env);
      const chosen = given.argument("name");
      if (chosen !== "sandbox" && !Object.hasOwn(all.profiles, chosen))
        throw usage(`There is no profile ${chosen}.`);
      // The sandbox is stored too: a choice, which a profile that is added later does not replace.
      writeProfiles({ ...all, default: chosen });
      note(`${chosen} is the default.`);
      return undefined;
    },
  },
  {
    path: "profile remove",
    summary: "remove a profile",
    arguments: [name],
    operations: [],
    run: async ({ io, note }, given) => {
      const all = readProfiles(io.env);
      const removed = given.argument("name");
      if (!Object.hasOwn(all.profiles, removed)) throw usage(`There is no profile ${removed}.`);
      delete all.profiles[removed];
      const isDefault = all.default === removed;
      writeProfiles({ ...all, default: isDefault ? "sandbox" : all.default });
      note(`${removed} is removed.${isDefault ? " The sandbox is the default now." : ""}`);
      return undefined;
    },
  },
];

function kindOf({ secret, key_id }: Profile): string {
  if (key_id !== undefined) return "key";
  return secret === undefined ? "asked for" : "secret";
}

async function addProfile({ io, note, confirm }: Context, given: Given): Promise<undefined> {
  const chosen = given.argument("name");
  if (!/^[A-Za-z0-9][\w.-]{0,63}$/.test(chosen) || chosen === "sandbox")
    throw usage(
      "The name of a profile has 1 to 64 letters, digits, dots, hyphens and underscores, begins with a letter or digit, and is not sandbox.",
    );
  const url = given.argument("url").replace(/\/+$/, "");
  checkAddress(url);
  const clientId = given.argument("client-id");
  const [keyId, keyFile] = [given.text("key-id"), given.text("key-file")];
  if ((keyId === undefined) !== (keyFile === undefined))
    throw usage("--key-id and --key-file belong together.");
  if (keyFile !== undefined && readPrivately(keyFile, "the private key") === undefined)
    throw usage(`There is no file ${keyFile}.`);
  const all = readProfiles(io.env);
  const earlier = Object.hasOwn(all.profiles, chosen) ? all.profiles[chosen] : undefined;
  if (earlier !== undefined && !given.flag("replace")) {
    const stored = `The profile ${chosen} is ${earlier.client_id} at ${earlier.url}.`;
    if (!io.isTerminal.in || !io.isTerminal.err) throw usage(`${stored} --replace replaces it.`);
    await confirm(`${stored} Replace it?`);
  }
  const profile: Profile = {
    url,
    client_id: clientId,
    ...(keyId === undefined || keyFile === undefined
      ? given.flag("ask")
        ? {}
        : { secret: await findSecret(io, clientId) }
      : { key_id: keyId, private_key_file: resolve(keyFile) }),
  };
  writeProfiles({ ...all, default: all.default ?? chosen, profiles: { ...all.profiles, [chosen]: profile } });
  const now = all.default ?? chosen;
  note(
    `${chosen} is stored in ${all.path}; the default is ${now}. \`bursar me --profile ${chosen}\` checks the credentials.`,
  );
  return undefined;
}
