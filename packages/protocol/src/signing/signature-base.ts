import { type InnerList, parseDictionary, serializeInnerList } from "structured-headers";

/** HTTP Message Signatures (RFC 9421): the signature base, and the parameters in the headers. No keys are handled here. */

/** The parts of a request that a signature can cover. */
export interface SignedMessage {
  method: string;
  /** The whole URL as the client sees it. */
  targetUri: string;
  /** The value of a header, by its name in lower case; several values are joined by a comma and a space. */
  header: (name: string) => string | undefined;
}

export interface MessageSignature {
  /** The names of the covered components, in order. */
  components: string[];
  created: number | undefined;
  expires: number | undefined;
  nonce: string | undefined;
  keyid: string | undefined;
  alg: string | undefined;
  tag: string | undefined;
  /** The value of `@signature-params`. */
  params: string;
  signature: Uint8Array;
}

/**
 * The label of the signature that is meant for a profile: RFC 9421 gives labels no meaning, and an application finds its signature by the
 * `tag`. Proxies and other applications may add signatures of their own, which mean nothing here: without any other, a message is not
 * signed. One that names a key of the signer was meant for the profile, so it is found without the tag, and what it lacks can be said.
 */
export function findLabel(
  signatureInput: string,
  tag: string,
  keyIds: readonly string[],
): { label: string } | { label?: undefined; fault: string | undefined } {
  const inputs = parse(signatureInput);
  if (inputs === undefined || inputs.size === 0) return { fault: "Signature-Input is not well-formed." };
  const tagged = [...inputs].filter(([, input]) => stringOf(input[1].get("tag")) === tag);
  const meant = [...inputs].filter(([, input]) => keyIds.includes(stringOf(input[1].get("keyid")) ?? ""));
  const [found, ...more] = tagged.length === 0 ? meant : tagged;
  if (found === undefined) return { fault: undefined };
  if (more.length === 0) return { label: found[0] };
  return tagged.length === 0
    ? { fault: `None of the ${inputs.size} signatures has the tag ${tag}.` }
    : { fault: `${tagged.length} signatures have the tag ${tag}; send one of them.` };
}

/** Reads one labelled signature of a message; undefined if the headers are malformed or lack it. */
export function readSignature(
  signatureInput: string,
  signature: string,
  label: string,
): MessageSignature | undefined {
  const input = parse(signatureInput)?.get(label);
  const value = parse(signature)?.get(label)?.[0];
  if (input === undefined || !isInnerList(input) || !(value instanceof ArrayBuffer)) return undefined;
  const [items, parameters] = input;
  // Component parameters (;sf, ;key, ;req) change what is covered; this profile allows none.
  const components = items.flatMap(([name, own]) =>
    typeof name === "string" && own.size === 0 ? [name] : [],
  );
  if (components.length !== items.length || new Set(components).size !== components.length) return undefined;
  const number = (key: string) => integerOf(parameters.get(key));
  const string = (key: string) => stringOf(parameters.get(key));
  return {
    components,
    created: number("created"),
    expires: number("expires"),
    nonce: string("nonce"),
    keyid: string("keyid"),
    alg: string("alg"),
    tag: string("tag"),
    params: serializeInnerList(input),
    signature: new Uint8Array(value),
  };
}

/** The signature base (section 2.5); undefined if the message lacks a covered component. */
export function signatureBase(
  components: readonly string[],
  params: string,
  message: SignedMessage,
): string | undefined {
  const lines: string[] = [];
  for (const name of components) {
    const value = name.startsWith("@") ? derivedComponent(name, message) : message.header(name)?.trim();
    if (value === undefined) return undefined;
    lines.push(`"${name}": ${value}`);
  }
  lines.push(`"@signature-params": ${params}`);
  return lines.join("\n");
}

function derivedComponent(name: string, { method, targetUri }: SignedMessage): string | undefined {
  const [, scheme, authority, path, query] =
    /^([a-z][a-z0-9+.-]*):\/\/([^/?#]+)([^?#]*)(\?[^#]*)?$/.exec(targetUri) ?? [];
  switch (name) {
    case "@method":
      return method;
    case "@target-uri":
      return targetUri;
    case "@scheme":
      return scheme;
    case "@authority":
      return authority?.toLowerCase();
    case "@path":
      return path === undefined ? undefined : path || "/";
    case "@query":
      return query ?? "?";
    default:
      return undefined;
  }
}

function parse(header: string): ReturnType<typeof parseDictionary> | undefined {
  try {
    return parseDictionary(header);
  } catch {
    return undefined;
  }
}

function isInnerList(value: unknown): value is InnerList {
  return Array.isArray(value) && Array.isArray(value[0]);
}

function integerOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) ? value : undefined;
}

function stringOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
