/** Signatures of HTTP messages as RFC 9421 carries them: `Signature-Input` says what is covered, `Signature` has the bytes. */
export interface MessageSignature {
  readonly label: string;
  readonly covered: readonly string[];
  readonly parameters: ReadonlyMap<string, string>;
  /** The member of `Signature-Input` as it arrived, which is the last line of the signature base. */
  readonly params: string;
  readonly signature: Buffer;
}

/** What a signature can cover. */
export interface SignedMessage {
  readonly method: string;
  readonly url: URL;
  readonly header: (name: string) => string | undefined;
}

const label = "[a-z*][a-z0-9_.*-]*";
const value =
  '(?:-?\\d{1,15}(?:\\.\\d{1,3})?|"(?:[^"\\\\]|\\\\["\\\\])*"|:[A-Za-z0-9+/=]*:|\\?[01]|[A-Za-z*][\\w!#$%&\'*+.^`|~:/-]*)';
const member = new RegExp(
  `(${label})=(\\(((?:"[^"]*" *)*)\\)((?:;${label}(?:=${value})?)*)) *(?:, *|$)`,
  "y",
);
const lengthMax = 8192;

/** The signatures of a message; undefined if the headers are not what RFC 9421 describes, or do not belong together. */
export function readSignatures({ header }: SignedMessage): MessageSignature[] | undefined {
  const inputs = header("signature-input")?.trim() ?? "";
  const given = header("signature") ?? "";
  if (inputs === "" || inputs.length > lengthMax || given.length > lengthMax) return undefined;
  const bytes = new Map(
    [...given.matchAll(new RegExp(`(${label})=:([A-Za-z0-9+/=]*):`, "g"))].map(
      ([, name = "", text = ""]) => [name, Buffer.from(text, "base64")] as const,
    ),
  );
  const found: MessageSignature[] = [];
  member.lastIndex = 0;
  while (member.lastIndex < inputs.length) {
    const match = member.exec(inputs);
    const [, name = "", params = "", list = "", parameters = ""] = match ?? [];
    const signature = bytes.get(name);
    if (match === null || signature === undefined) return undefined;
    const covered = [...list.matchAll(/"([^"]*)"/g)].map(([, one = ""]) => one);
    found.push({ label: name, covered, params, signature, parameters: readParameters(parameters) });
  }
  return found;
}

function readParameters(text: string): Map<string, string> {
  const pairs = [...text.matchAll(new RegExp(`;(${label})(?:=(${value}))?`, "g"))];
  return new Map(
    pairs.map(([, name = "", raw = "?1"]) => [
      name,
      raw.startsWith('"') ? raw.slice(1, -1).replace(/\\(["\\])/g, "$1") : raw,
    ]),
  );
}

/** The string that is signed; undefined if the message lacks a component. */
export function signatureBase(
  covered: readonly string[],
  params: string,
  message: SignedMessage,
): string | undefined {
  const lines = covered.map((name) => {
    const component = name.startsWith("@") ? derived(name, message) : message.header(name)?.trim();
    return component === undefined ? undefined : `"${name}": ${component}`;
  });
  return lines.includes(undefined) ? undefined : [...lines, `"@signature-params": ${params}`].join("\n");
}

function derived(name: string, { method, url }: SignedMessage): string | undefined {
  switch (name) {
    case "@method":
      return method;
    case "@target-uri":
      return url.href;
    case "@authority":
      return url.host;
    case "@scheme":
      return url.protocol.slice(0, -1);
    case "@path":
      return url.pathname;
    case "@query":
      return url.search === "" ? "?" : url.search;
    case "@request-target":
      return url.pathname + url.search;
    default:
      return undefined;
  }
}
