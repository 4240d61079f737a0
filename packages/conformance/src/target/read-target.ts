import { parse } from "yaml";
import { type ProfileName, profileNames } from "../engine/check.js";
import { presets } from "./presets.js";
import { readDocuments, readSignedRequests, readStream } from "./read-offers.js";
import {
  readChoice,
  readPlace,
  readValues,
  refuseUnknownNames,
  UsageFault,
  type ValueReader,
} from "./read-values.js";
import { readWebhooks } from "./read-webhooks.js";
import { type Credentials, defaultTiming, type Target } from "./target.js";

type Environment = Readonly<Record<string, string | undefined>>;

/** What the command line adds to the target file. It takes precedence, except that its profiles are further ones. */
export interface GivenTarget {
  readonly baseUrl?: string | undefined;
  readonly token?: string | undefined;
  readonly clientId?: string | undefined;
  readonly profiles?: readonly string[] | undefined;
}

/** The secrets that a command line does not show; `init` writes the same names. */
export const tokenVariable = "CONFORMANCE_TOKEN";
const clientSecretVariable = "CONFORMANCE_CLIENT_SECRET";

/**
 * Reads a target file. Secrets are never in it: members that end in `_env` name environment variables. What the file leaves out comes from
 * its preset.
 */
export function readTarget(
  source: string,
  given: GivenTarget,
  environment: Environment,
  detected?: string,
): Target {
  const reader = readValues(parseYaml(source) ?? {}, "");
  const presetName = reader.text("preset") ?? detected ?? "none";
  const preset = presets[presetName];
  if (preset === undefined)
    throw new UsageFault(`preset is ${presetName}, but must be one of ${Object.keys(presets).join(", ")}.`);
  const secretOf = (name: string) => {
    const value = environment[name];
    if (value === undefined || value === "")
      throw new UsageFault(`The environment variable ${name} is not set.`);
    return value;
  };
  // Read even if the command line has them too, so that they count as known.
  const ownUrl = reader.text("base_url");
  const ownProfiles = reader.texts("profiles");
  const timing = { ...preset.timing, ...readTiming(reader.object("timing")) };
  // What is missing can be misspelt, so it is reported after the members that are not known.
  const baseUrl = attempt(() => readBaseUrl(given.baseUrl ?? ownUrl));
  const credentials = attempt(() => readOwnCredentials(reader, given, environment, secretOf));
  const target: Target = {
    baseUrl: baseUrl.value ?? unknownUrl,
    credentials: credentials.value ?? {},
    secondTenant: readCredentials(reader.object("second_tenant"), secretOf),
    limited: readCredentials(reader.object("limited"), secretOf),
    revokedToken: readSecret(reader, "revoked_token_env", secretOf),
    transaction: readTransaction(reader.object("transaction")) ?? preset.transaction,
    exact: readExact(reader.object("exact")) ?? preset.exact,
    refusedByPolicy: reader.members("refused_by_policy") ?? preset.refusedByPolicy,
    findRefusedByPolicy: preset.findRefusedByPolicy,
    fails: reader.members("fails") ?? preset.fails,
    findFailing: preset.findFailing,
    reference: readReference(reader.object("reference")) ?? preset.reference,
    wallet: readWallet(reader.object("wallet")) ?? preset.wallet,
    acceptedId: readPlace(reader, "accepted_id") ?? preset.acceptedId,
    shown: readShown(reader.object("shown")) ?? preset.shown,
    finalStates: reader.names("final_states") ?? preset.finalStates,
    webhooks: readWebhooks(reader.object("webhooks"), secretOf) ?? preset.webhooks,
    signedRequests: readSignedRequests(reader.object("signed_requests")) ?? preset.signedRequests,
    stream: readStream(reader.object("stream")) ?? preset.stream,
    documents: readDocuments(reader.object("documents")) ?? preset.documents,
    timing: { ...defaultTiming, ...timing },
    statedTiming: new Set(Object.keys(timing) as (keyof Target["timing"])[]),
    keyLength: readKeyLength(reader.whole("key_length")),
    quotaCode: reader.text("quota_code"),
    profiles: [
      ...new Set([
        ...(readProfiles(ownProfiles) ?? preset.profiles),
        ...(readProfiles(given.profiles) ?? []),
      ]),
    ],
  };
  reader.end();
  for (const { fault } of [baseUrl, credentials]) if (fault !== undefined) throw fault;
  refuseEqualTokens(target);
  return target;
}

const unknownUrl = new URL("http://address.invalid");

function attempt<T>(read: () => T): { readonly value?: T; readonly fault?: unknown } {
  try {
    return { value: read() };
  } catch (fault) {
    return { fault };
  }
}

/** The service could not treat one token in two ways. */
function refuseEqualTokens({ credentials: { token }, revokedToken, secondTenant }: Target): void {
  const others = { revoked_token_env: revokedToken, "second_tenant.token_env": secondTenant?.token };
  for (const [name, other] of Object.entries(others))
    if (token !== undefined && other === token)
      throw new UsageFault(`${name} has the same token as the run, and must have another one.`);
}

function parseYaml(source: string): unknown {
  try {
    return parse(source);
  } catch (error) {
    const [line] = (error instanceof Error ? error.message : String(error)).split("\n");
    throw new UsageFault(`The target file is not valid YAML: ${line}`, { cause: error });
  }
}

export function readBaseUrl(text: string | undefined): URL {
  if (text === undefined)
    throw new UsageFault("The address is missing: pass --base-url, or base_url in the target file.");
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "")
    throw new UsageFault(`${text} is not an http or https address without query.`);
  if (url.username !== "" || url.password !== "")
    throw new UsageFault("The address must not contain a password; pass a token or client credentials.");
  return url;
}

type SecretOf = (name: string) => string;

function readSecret(reader: ValueReader, name: string, secretOf: SecretOf): string | undefined {
  const variable = reader.text(name);
  const secret = variable === undefined ? undefined : secretOf(variable);
  if (name.endsWith("token_env")) refuseUnsendable(secret, `The environment variable ${variable}`);
  return secret;
}

/** A token with a line break, such as one from a file, cannot be sent. */
function refuseUnsendable(token: string | undefined, where: string): void {
  if (token === undefined || /^[\t\x20-\x7e\x80-\xff]*$/.test(token)) return;
  const isBreak = /[\r\n]$/.test(token);
  throw new UsageFault(
    `${where} has ${isBreak ? "a line break at its end" : "a character that no header can have"}, so it cannot be sent as a token.`,
  );
}

function readCredentials(reader: ValueReader | undefined, secretOf: SecretOf): Credentials | undefined {
  if (reader === undefined) return undefined;
  const credentials = {
    token: readSecret(reader, "token_env", secretOf),
    clientId: reader.text("client_id"),
    clientSecret: readSecret(reader, "client_secret_env", secretOf),
  };
  reader.end();
  return credentials;
}

function readOwnCredentials(
  reader: ValueReader,
  given: GivenTarget,
  environment: Environment,
  secretOf: SecretOf,
): Credentials {
  const named = readSecret(reader, "token_env", secretOf);
  const ownClientId = reader.text("client_id");
  const token = given.token ?? named ?? environment[tokenVariable];
  refuseUnsendable(
    token,
    given.token === undefined ? `The environment variable ${tokenVariable}` : "--token",
  );
  const clientId = given.clientId ?? ownClientId;
  const secretVariable = reader.text("client_secret_env") ?? clientSecretVariable;
  if (given.clientId !== undefined || (token === undefined && clientId !== undefined))
    return { clientId, clientSecret: secretOf(secretVariable) };
  if (token === undefined)
    throw new UsageFault(
      `Credentials are missing: pass --token or ${tokenVariable}, or --client-id with ${clientSecretVariable}.`,
    );
  return { token };
}

function readTransaction(reader: ValueReader | undefined): Target["transaction"] | undefined {
  if (reader === undefined) return undefined;
  const { asset, amount } = readAmount(reader);
  const fields = reader.members("fields") ?? {};
  reader.end();
  return { asset, amount, fields };
}

function readExact(reader: ValueReader | undefined): Target["exact"] {
  if (reader === undefined) return undefined;
  const exact = readAmount(reader);
  if (exact.amount.replace(/\./, "").replace(/^0+/, "").length < 17)
    throw new UsageFault(
      "exact.amount must have at least 17 significant digits; a double carries shorter ones exactly.",
    );
  reader.end();
  return exact;
}

function readAmount(reader: ValueReader): { asset: string; amount: string } {
  const asset = reader.text("asset");
  const amount = reader.text("amount");
  if (asset === undefined || amount === undefined)
    throw new UsageFault(`${reader.path} needs asset and amount, both as strings.`);
  if (!/^\d+(\.\d+)?$/.test(amount))
    throw new UsageFault(`${reader.path}.amount must be a decimal number such as "1.50".`);
  return { asset, amount };
}

function readReference(reader: ValueReader | undefined): Target["reference"] | undefined {
  if (reader === undefined) return undefined;
  const maxLength = reader.whole("max_length");
  if (maxLength !== undefined && maxLength < 12)
    throw new UsageFault(
      `${reader.path}.max_length must be at least 12: the references of a run must differ.`,
    );
  const characters = readChoice(reader, "characters", ["any", "ascii", "alphanumeric", "digits"]);
  reader.end();
  return { maxLength, characters: characters === "any" ? undefined : characters };
}

function readWallet(reader: ValueReader | undefined): Target["wallet"] | undefined {
  if (reader === undefined) return undefined;
  const body = reader.members("body") ?? {};
  refuseUnknownNames(`${reader.path}.body`, JSON.stringify(body), ["run"]);
  const wallet = {
    body,
    state: reader.text("state"),
    finalStates: reader.names("final_states") ?? [],
  };
  reader.end();
  return wallet;
}

function readShown(reader: ValueReader | undefined): Target["shown"] | undefined {
  if (reader === undefined) return undefined;
  const shown = {
    id: reader.text("id"),
    state: reader.text("state"),
    amount: reader.text("amount"),
    asset: reader.text("asset"),
    reference: reader.text("reference"),
  };
  reader.end();
  return shown;
}

function readTiming(reader: ValueReader | undefined): Partial<Target["timing"]> {
  if (reader === undefined) return {};
  const names = {
    request_ms: "requestMs",
    poll_ms: "pollMs",
    result_ms: "resultMs",
    webhook_ms: "webhookMs",
    retry_ms: "retryMs",
    visible_ms: "visibleMs",
    quiet_ms: "quietMs",
    key_ms: "keyMs",
    revocation_ms: "revocationMs",
    slow_ms: "slowMs",
  };
  const timing = Object.entries(names).flatMap(([name, own]) => {
    const value = reader.whole(name);
    return value === undefined ? [] : [[own, value] as const];
  });
  reader.end();
  return Object.fromEntries(timing);
}

function readKeyLength(length: number | undefined): number | undefined {
  if (length !== undefined && (length < 8 || length > 255))
    throw new UsageFault("key_length must be from 8 to 255 characters.");
  return length;
}

function readProfiles(names: readonly string[] | undefined): ProfileName[] | undefined {
  return names?.map((name) => {
    const known = profileNames.find((one) => one === name);
    if (known === undefined)
      throw new UsageFault(`${name} is not a profile. Profiles: ${profileNames.join(", ")}.`);
    return known;
  });
}
